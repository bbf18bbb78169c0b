import Doors
import Foundation
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// The way into the mailboxes.
@EventLoop
@Suite struct MailboxGatewayTests {
    @Test func anAddressHasOneText() {
        let address = MailboxAddress.text((0..<72).map { UInt8($0) })
        #expect(address.utf8.count == 100)
        let service = MailboxService()
        #expect(service.target(address, on: .android)?.deviceToken.text == address)
        let (shorter, random) = (String(address.dropLast()), String(address.dropFirst(4)))
        let others: [String] = [
            "", "mb1:", shorter, address + "A", "MB1:" + random, "al1:" + random, shorter + "=",
            shorter + "+", shorter + "\u{e9}",
        ]
        for wrong in others { #expect(service.target(wrong, on: .android) == nil, "\(wrong)") }
        #expect(service.target(MailboxAddress.nobody.text, on: .android) != nil)
        #expect(service.payloadSize(of: .prepared(PreparedPush(exactly: "x"))) == nil)
    }

    private func notification(to token: DeviceToken) -> Relay.Notification {
        Relay.Notification(
            id: NotificationID(high: 1, low: 2), lane: LaneID(app: "mailboxes", host: .production),
            deviceToken: token, message: "x", isUrgent: true, hasSound: false, isMutableContent: false,
            isContentAvailable: true, expiresAt: .max, acceptedAt: 0)
    }

    private func outcome(
        _ result: Result<MailboxPutResult, OutboxError>,
        to token: DeviceToken = DeviceToken(MailboxAddress.text([UInt8](repeating: 0, count: 72)))
    ) async -> Outcome {
        let gateway = MailboxGateway()
        #expect(gateway.capacity == 0, "nothing is taken before the mailboxes are open")
        gateway.use { _ throws(OutboxError) in try result.get() }
        #expect(gateway.capacity > 0)
        return await withCheckedContinuation { continuation in
            gateway.send(notification(to: token)) { continuation.resume(returning: $0) }
        }
    }

    @Test func whatBecomesOfItIsTheDevicesOwnAffair() async {
        #expect(await outcome(.success(.stored(1))) == .kept)
        #expect(await outcome(.success(.full)) == .refused(reason: "MailboxFull", kind: .full))
        #expect(await outcome(.success(.noSuchMailbox)) == .tokenDead(reason: "NoSuchMailbox", since: nil))
        #expect(
            await outcome(.success(.noSuchMailbox), to: MailboxAddress.nobody)
                == .refused(reason: "NoSuchMailbox"))
        guard case .deferred(let deferral) = await outcome(.failure(.full)) else {
            Issue.record("it was not deferred")
            return
        }
        #expect(deferral.scope == .host && deferral.isUnharmed)
    }
}
