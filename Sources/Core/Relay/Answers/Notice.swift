import Encodings

/// A text that the node itself sends to a phone: `OnionbellNotice|<JSON>`. The node has no phone's key, so the text is
/// plain; no endpoint takes one from outside.
package enum Notice {
    package static let prefix = "OnionbellNotice|"

    /// Returns the text of a notice.
    ///
    /// - Parameters:
    ///   - title, message: Printable ASCII that JSON need not escape.
    ///   - now: Milliseconds since 1970.
    package static func text(title: String, message: String, at now: Int64) -> String {
        #"\#(prefix){"title":"\#(title)","message":"\#(message)","sentDate":\#(now)}"#
    }

    static func isOne(_ text: String) -> Bool { text.hasPrefix(prefix) }
}
