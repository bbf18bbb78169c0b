import Dispatching
import EndpointWorlds
import Foundation
import HTTP1
import Lab
import Persistence
import Reactor
import Relay
import Testing
import Vectors

/// Ten thousand requests while both gateways misbehave: afterwards outbox, counters and the gateways' own books agree.
@EventLoop
@Suite(.serialized) struct HTTPSoakTests {
    private static let requests = isLong ? 10_000 : 1000
    private static let connections = 40
    private static let devices = 200

    /// One notification as both ends see it.
    private struct Sent: Hashable {
        let topic: String?
        let token: String
        let message: String
    }

    /// What was sent and what the node said.
    @EventLoop private final class Ledger {
        var random = SystemRandomNumberGenerator()
        var begun = 0
        var earlier: [(bytes: [UInt8], sent: Sent)] = []
        var taken: Set<Sent> = []
        var dead: Set<Sent> = []
        var submitted = 0
        var unexpected: [String] = []
    }

    private static func token(_ device: Int) -> String {
        let digits = String(device)
        return String(repeating: "ab", count: 32).dropLast(digits.count) + digits
    }

    private func next(_ ledger: Ledger) -> (bytes: [UInt8], sent: Sent) {
        let number = ledger.begun
        ledger.begun += 1
        // A sender that isn't sure sends again.
        if number % 20 == 19, let again = ledger.earlier.randomElement(using: &ledger.random) { return again }
        let token = Self.token(number % Self.devices)
        let message = Data("notification \(number) of the soak, sealed for its phone".utf8)
            .base64EncodedString()
        let bytes: [UInt8]
        var topic: String?
        switch number / Self.devices % 4 {
        case 0, 1:
            let isAndroid = number / Self.devices % 4 == 0
            topic = isAndroid ? nil : RelayWorld.bisq2Topic
            let hex = message.utf8.map { String($0, radix: 16) }.joined()
            bytes = Array(
                "GET /relay?isAndroid=\(isAndroid)&isProduction=\(number % 3 > 0)&token=\(token)&msg=\(hex) HTTP/1.1\r\nHost: x.onion\r\n\r\n"
                    .utf8)
        case let form:
            topic = form == 2 ? nil : RelayWorld.bisq2Topic
            let body = #"{"encrypted":"\#(message)","isUrgent":\#(number % 7 > 0),"isMutableContent":true}"#
            bytes = Array(
                "POST /v1/\(form == 2 ? "fcm" : "apns")/device/\(token) HTTP/1.1\r\nHost: x.onion\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8)
        }
        let request = (bytes, Sent(topic: topic, token: token, message: message))
        ledger.earlier.append(request)
        return request
    }

    private func send(_ client: HTTPClient, _ ledger: Ledger) async {
        while ledger.begun < Self.requests {
            let (bytes, sent) = next(ledger)
            ledger.submitted += 1
            guard let answer = await client.ask(bytes) else {
                ledger.unexpected.append("closed")
                return
            }
            switch answer.status {
            case 200: ledger.taken.insert(sent)
            // A repetition hears the word that ended the first: Google's has other letters.
            case 400 where answer.text.lowercased().contains("unregistered"): ledger.dead.insert(sent)
            case let status: ledger.unexpected.append("\(status) \(answer.text)")
            }
        }
    }

    private static let dead = (0..<devices).filter { $0 % 50 == 7 }.map { token($0) }

    /// What both gateways do: no request of these is delivered without an answer.
    private static let faults =
        [
            FaultRule(.resetStream(.refusedStream), when: .every(90)),
            FaultRule(.goaway(reason: nil, isGraceful: true), when: .every(800)),
            FaultRule(.delay(.milliseconds(50)), when: .probability(0.02)),
        ]

    /// Google has no id to know a repetition by, so nothing is left unclear here.
    private static let googlesFaults = FaultScript(
        dead.map { FaultRule(.answer(status: 404, reason: "UNREGISTERED"), when: .deviceToken($0)) } + faults
            + [
                FaultRule(.answer(status: 500, reason: "INTERNAL", retryAfter: "1"), when: .every(900))
            ], seed: 5)

    private static let applesFaults = FaultScript(
        dead.map { FaultRule(.answer(status: 410, reason: "Unregistered"), when: .deviceToken($0)) } + faults
            + [
                FaultRule(.closeConnection(.beforeAnswer), when: .every(600)),
                FaultRule(.closeConnection(.beforeDelivery), when: .every(700)),
                FaultRule(.goaway(reason: "Shutdown", isGraceful: false), when: .every(900)),
                FaultRule(.page(status: 502), when: .every(1500)),
                FaultRule(.answer(status: 503, reason: "ServiceUnavailable"), when: .every(300)),
                FaultRule(.answer(status: 429, reason: "TooManyRequests"), when: .every(250)),
            ], seed: 6)

    @Test func afterTenThousandRequestsWithFaultsAllBooksAgree() async throws {
        let world = try await RelayWorld { $0.limits.tokenRate = 1_000_000 }
        world.apple.faults = Self.applesFaults
        world.sandbox.faults = Self.applesFaults
        world.google.faults = Self.googlesFaults
        let ledger = Ledger()
        var clients: [HTTPClient] = []
        for _ in 0..<Self.connections { clients.append(try await world.client()) }
        let senders = clients.map { client in Task { await send(client, ledger) } }
        for sender in senders { await sender.value }
        try await EventLoop.until { world.dispatcher.waiting == 0 }
        #expect(ledger.unexpected.isEmpty)

        let (doors, lanes) = (world.dispatcher.doors.map(\.figures), world.dispatcher.laneTotals)
        let stored = world.dispatcher.stored
        let (delivered, dead) = lanes.reduce((0, 0)) { ($0.0 + $1.delivered, $0.1 + $1.tokensDead.total) }
        await world.end()
        let books = (world.apple.book + world.sandbox.book + world.google.book)
        let pushes = books.map {
            Sent(topic: $0.headers["apns-topic"], token: $0.deviceToken, message: message(of: $0.body))
        }
        // Nothing lost: all that was taken for a living phone was pushed, and nothing else was.
        let living = ledger.taken.filter { sent in !Self.dead.contains(sent.token) }
        #expect(Set(pushes) == living)
        #expect(ledger.dead.allSatisfy { Self.dead.contains($0.token) })
        // Nothing twice: what came twice to Apple came under one id, which the phone shows once.
        let ids = books.map { $0.headers["apns-collapse-id"] ?? UUID().uuidString }
        #expect(Set(ids).count == living.count)
        #expect(world.google.book.count == living.count { $0.topic == nil })
        // The figures say the same.
        #expect(doors.reduce(0) { $0 + $1.submitted } == Self.requests)
        #expect(delivered == living.count)
        #expect(stored == delivered + dead)
        #expect(lanes.allSatisfy { $0.refused.isEmpty && $0.expired == 0 })
        #expect(doors.allSatisfy { $0.busyDevice + $0.busyNode == 0 })
        #expect(lanes.contains { !$0.deferred.isEmpty })
        // So does the outbox, as the next start would find it.
        let outbox = try await OutboxStore(path: world.outboxPath)
        let content = try await outbox.content()
        #expect(content.waiting.isEmpty)
        #expect(content.deadTokens.count >= 4)
        await outbox.close()
        print(
            "soak: \(Self.requests) requests:",
            "\(stored) stored, \(delivered) delivered, \(dead) dead,",
            "\(doors.reduce(0) { $0 + $1.duplicates }) duplicates, \(lanes.reduce(0) { $0 + $1.attempts }) attempts,",
            "\(books.count - living.count) repeated under their id")
    }

    /// The sealed text of a push to either gateway.
    private func message(of body: [UInt8]) -> String {
        let text = String(decoding: body, as: UTF8.self)
        guard let start = text.range(of: #""encrypted":""#)?.upperBound,
            let end = text[start...].firstIndex(of: "\"")
        else { return "" }
        return String(text[start..<end])
    }
}
