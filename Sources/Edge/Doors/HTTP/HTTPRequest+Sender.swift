import HTTP1
import Relay

extension HTTPRequest {
    /// Whose it is, as the core has it.
    var senderID: SenderID? { sender == 0 ? nil : SenderID(sender) }
}
