import Doors
import Encodings
import HTTP1
import Relay

/// The way back over HTTP.
extension MailboxDoor {
    func answer(_ request: HTTPRequest, at channel: String, over live: LiveAnswer) {
        guard request.method != "OPTIONS" else { return live.answer(MailboxDoor.crossOrigin) }
        guard ["GET", "POST"].contains(request.method) else {
            return live.answer(.methodNotAllowed("GET, POST, OPTIONS").inFormOfNtfy)
        }
        do throws(MailboxFault) {
            let form = try ReplyForm(request)
            let address = MailboxRequest.credentials(in: request.fields["authorization"])?.token ?? ""
            try count(directory.owner(ofAddress: digests.address(address)))
            guard let target = ReplyBoard.ChannelAddress(channel: channel, address: address) else {
                throw .unauthorized
            }
            Task { await answer(form, at: target, over: live) }
        } catch {
            refuse(error, over: live)
        }
    }

    private func answer(_ form: ReplyForm, at target: ReplyBoard.ChannelAddress, over live: LiveAnswer) async
    {
        do throws(ReplyBoard.Refusal) {
            switch form {
            case .post(let sealed):
                try await replies.post(sealed, at: target)
                live.answer(.mailbox(Array("{\"stored\":true}\n".utf8)).forKnown)
            case .fetch(let acknowledged, let wait):
                let found = try await replies.replies(
                    at: target, acknowledging: acknowledged, waiting: wait)
                live.answer(.mailbox(ReplyForm.body(of: found)).forKnown)
            }
        } catch {
            switch error {
            case .noSuchMailbox: refuse(.unauthorized, over: live)
            case .badForm, .notServed: refuse(.badRequest, over: live)
            case .full: refuse(.tooManyReplies, over: live)
            case .storeFailed: refuse(.storeFailed, over: live)
            }
        }
    }
}
