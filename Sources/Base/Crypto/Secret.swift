/// Bytes that must not be shown: prints, reflects and dumps as `<secret>`.
package struct Secret: Sendable, Equatable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static func == (left: Secret, right: Secret) -> Bool {
        equalInConstantTime(left.bytes, right.bytes)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
