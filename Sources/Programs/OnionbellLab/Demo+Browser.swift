import Client
import Clocks
import Lab
import Reactor
import Wire

/// The way without an app and an account: a browser with the phone's page, and the push service of its maker.
extension Demo {
    /// Sends a notification to a browser, and verifies each step until the page shows it.
    ///
    /// - Parameter name: The browser's name, which is in each line.
    func ring(
        _ name: String, of server: GatewaySimulator, by peer: BisqPeer, in world: LabWorld
    ) async throws -> Legs {
        let browser = try server.subscribe(for: try world.vapidKey())
        let phone = try Phone.new(.android, descriptor: "Web", deviceToken: browser.token)
        narrator.tell("\(name): the phone's page shows its pairing token: \(phone.pairingToken.text)")
        let message = PhoneText(
            sentDate: EventLoop.unixMilliseconds, transactionID: "IgytxfRN", title: "Trade started",
            message: "Your trade IgytxfRN has begun.", kind: .trade, actionRequired: "", version: 1)
        var request = try BisqSender(to: phone.pairingToken).request(for: message)
        request.awaitsOutcome = true
        let waiter = server.nextPush(to: browser)
        let sent = EventLoop.now
        let receipt = try await peer.send(request)
        let receiptTime = since(sent)
        guard let (push, at) = await waiter.wait(for: .seconds(20)) else {
            throw Broken(step: "\(name): the push service got no push")
        }
        let outcome = receipt.status == .delivered ? receipt : try await peer.nextResponse(to: request.uid)
        guard outcome.status == .delivered else {
            throw Broken(step: "\(name): the outcome is \(outcome.words)")
        }
        let outcomeTime = since(sent)
        narrator.verified(
            "\(name): push service accepted \(push.body.count) bytes that it cannot read, node answers \"\(outcome.words)\""
        )
        let shown = try phone.open(try browser.open(push))
        guard shown == message else { throw Broken(step: "\(name): the page shows something else") }
        narrator.verified("\(name): page decrypts and shows \"\(shown.title): \(shown.message)\"")
        return Legs(receipt: receiptTime, pushed: at - sent, outcome: outcomeTime)
    }
}
