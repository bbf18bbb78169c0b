/// Bytes that must not be shown: a key, a password, a token, the value of a request's `authorization`. It prints, reflects and
/// dumps as `<secret>`.
package struct Secret: Sendable, Equatable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { self.init(Array(text.utf8)) }

    /// The bytes as the text that goes to whom they are for.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package static func == (left: Secret, right: Secret) -> Bool {
        equalInConstantTime(left.bytes, right.bytes)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
