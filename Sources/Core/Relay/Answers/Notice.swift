import Clocks
import Encodings

/// A text that the node itself sends to a phone: `OnionbellNotice|<JSON>`. The node has no phone's key, so the text is
/// plain; no endpoint takes one from outside.
package enum Notice {
    package static let prefix = "OnionbellNotice|"

    /// Returns the text of a notice.
    ///
    /// - Parameters:
    ///   - title, message: Printable ASCII that JSON need not escape.
    ///   - now: The time that it names.
    package static func text(title: String, message: String, at now: UnixTime) -> String {
        #"\#(prefix){"title":"\#(title)","message":"\#(message)","sentDate":\#(now.milliseconds)}"#
    }

    static func isOne(_ text: String) -> Bool { text.hasPrefix(prefix) }
}
