import HTTP1
import Relay

extension HTTPRequest {
    /// The sender of the request, as the core has it.
    package var senderID: SenderID? { sender == 0 ? nil : SenderID(sender) }
}
