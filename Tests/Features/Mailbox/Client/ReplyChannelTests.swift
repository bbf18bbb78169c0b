import Client
import Encodings
import Testing
import Vectors
import Wire

@testable import MailboxClients

/// The way back, against vectors that another program made (Tests/Vectors/reply-vectors.py).
@Suite struct ReplyChannelTests {
    struct Channel: Decodable, Sendable, CustomTestStringConvertible {
        let key: String
        let direction: String
        let answering: Int64?
        let id: String
        var testDescription: String { "\(direction) \(answering ?? 0) \(key.prefix(4))" }
    }

    struct Reply: Decodable, Sendable, CustomTestStringConvertible {
        let key: String
        let direction: String
        let counter: Int64
        let sentAt: Int64
        let kind: String
        let text: String
        let nonce: String
        let sealed: String
        var testDescription: String { "\(kind) \(counter)" }
    }

    struct Refused: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let sealed: String
        var testDescription: String { name }
    }

    struct Window: Decodable, Sendable, CustomTestStringConvertible {
        struct Step: Decodable, Sendable {
            let counter: Int64
            let sentAt: Int64
            let now: Int64
            let fault: String?
        }

        let name: String
        let since: Int64
        let steps: [Step]
        var testDescription: String { name }
    }

    private static let key = "0123456789abcdef0123456789ABCDEF"

    private func token(_ key: String = key) throws -> PairingToken {
        try PairingToken(
            platform: .android, descriptor: "", key: key,
            deviceToken: "mb1:" + String(repeating: "a", count: 96))
    }

    private func channel(
        _ direction: String, _ key: String = key, answering counter: Int64? = nil
    ) throws -> ReplyChannel {
        ReplyChannel(
            direction == "to-bisq" ? .toBisq : .toPhone(answering: counter ?? 1), of: try token(key))
    }

    @Test(arguments: try Vectors.replies("channels", as: [Channel].self))
    func aChannelsNameComesFromTheKeyAndTheReply(vector: Channel) throws {
        #expect(try channel(vector.direction, vector.key, answering: vector.answering).id == vector.id)
    }

    @Test(arguments: try Vectors.replies("replies", as: [Reply].self))
    func aReplyIsSealedByteForByteAndOpens(vector: Reply) throws {
        let channel = try channel(vector.direction, vector.key)
        let reply = try #require(
            PhoneReply(
                counter: vector.counter, sentAt: vector.sentAt, kind: vector.kind, text: vector.text))
        #expect(try channel.seal(reply, nonce: bytes(hex: vector.nonce)) == bytes(hex: vector.sealed))
        #expect(try channel.open(bytes(hex: vector.sealed)) == reply)
        #expect(try channel.seal(reply) != channel.seal(reply), "a nonce came twice")
        #expect(try channel.open(channel.seal(reply)) == reply)
    }

    @Test(arguments: try Vectors.replies("refused", as: [Refused].self))
    func whatIsNotAReplyOfThisChannelDoesNotOpen(vector: Refused) throws {
        let channel = try channel("to-bisq")
        #expect(throws: ReplyFault.notAuthentic) { try channel.open(bytes(hex: vector.sealed)) }
    }

    /// Whatever a node changes: each bit counts.
    @Test func noBitOfASealedReplyCanBeChanged() throws {
        let channel = try channel("to-bisq")
        let vector = try #require(try Vectors.replies("replies", as: [Reply].self).first)
        let sealed = bytes(hex: vector.sealed)
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: ReplyFault.notAuthentic) { try channel.open(changed) }
        }
    }

    @Test(arguments: try Vectors.replies("windows", as: [Window].self))
    func aReplyIsTakenOnceInOrderWithinTenMinutes(vector: Window) throws {
        var window = ReplyWindow(since: vector.since)
        for step in vector.steps {
            let reply = try #require(
                PhoneReply(counter: step.counter, sentAt: step.sentAt, kind: "stop", text: ""))
            let before = window
            if let fault = step.fault {
                #expect(throws: try #require(ReplyFault(rawValue: fault))) {
                    try window.take(reply, at: step.now)
                }
                #expect(window == before)
            } else {
                try window.take(reply, at: step.now)
                #expect(window.counter == step.counter)
            }
        }
    }

    @Test func aPhoneWhoseClockWasAheadCountsFromTheTimeAgain() throws {
        let now = ReplyChannelTests.now
        for (last, next) in [
            (0, now), (now - 1, now), (now, now + 1), (now + 119_999, now + 120_000), (now + 120_000, now),
            (now + 86_400_000, now), (.max, now), (.min, now),
        ] as [(Int64, Int64)] {
            #expect(ReplyWindow.counter(after: last, at: now) == next, "\(last - now)")
            var window = ReplyWindow(since: 0)
            try window.take(
                try #require(PhoneReply(counter: next, sentAt: now, kind: "stop", text: "")), at: now)
        }
    }

    @Test func anAgentWhoseClockWasAheadTakesRepliesAgain() throws {
        let (now, day) = (ReplyChannelTests.now, 86_400_000 as Int64)
        func reply(at time: Int64) throws -> PhoneReply {
            try #require(PhoneReply(counter: time, sentAt: time, kind: "stop", text: ""))
        }
        // Its file was made a day ahead.
        var window = ReplyWindow(since: now + day)
        #expect(throws: ReplyFault.expired) { try window.take(try reply(at: now), at: now) }
        window.restart(at: now)
        // What it may have taken before its file was made is good for no longer.
        #expect(window.since == now + ReplyWindow.validity)
        window.restart(at: now + 1)
        let later = now + ReplyWindow.validity
        #expect(throws: ReplyFault.expired) { try window.take(try reply(at: later - 1), at: later) }
        try window.take(try reply(at: later), at: later)
        // One that was right, or was behind, stays as it is.
        for since in [0, now - 1, now, now + ReplyWindow.validity] {
            var window = ReplyWindow(since: since)
            window.restart(at: now)
            #expect(window.since == since)
        }
    }

    /// What can be taken is never so far ahead.
    @Test func aCounterThatIsAheadShowsAWrongClock() throws {
        let now = ReplyChannelTests.now
        let error = ReplyWindow.clockError
        var window = ReplyWindow(since: 0)
        try window.take(
            try #require(
                PhoneReply(counter: now + 2 * error, sentAt: now + error, kind: "stop", text: "")),
            at: now)
        #expect(!window.isAhead(at: now))
        #expect(window.isAhead(at: now - 1))
    }

    // MARK: The agent

    private static let now: Int64 = 1_790_000_000_000

    private func sealed(_ counter: Int64, _ kind: String, at time: Int64 = now) throws -> [UInt8] {
        let reply = try #require(PhoneReply(counter: counter, sentAt: time, kind: kind, text: ""))
        return try channel("to-bisq").seal(reply)
    }

    @Test func theAgentActsOnConfiguredKindsOnly() throws {
        var agent = ReplyAgent(try token(), kinds: ["stop"], window: ReplyWindow(since: 0))
        func kind(_ sealed: [UInt8]) -> String {
            switch agent.verdict(on: sealed, at: ReplyChannelTests.now) {
            case .act(let reply): "act \(reply.kind)"
            case .unknown(let reply): "unknown \(reply.kind)"
            case .drop(let fault): fault.rawValue
            }
        }
        let stop = try sealed(3, "stop")
        #expect(kind(stop) == "act stop")
        #expect(kind(stop) == "replayed")
        #expect(kind(try sealed(4, "start")) == "unknown start")
        #expect(agent.window.counter == 4, "an unknown one counts too")
        #expect(kind(try sealed(4, "stop")) == "replayed")
        #expect(kind(try sealed(5, "stop", at: ReplyChannelTests.now - 600_000)) == "expired")
        #expect(kind([1, 2, 3]) == "not_authentic")
        var nothing = ReplyAgent(try token(), kinds: [], window: ReplyWindow(since: 0))
        guard case .unknown = nothing.verdict(on: stop, at: ReplyChannelTests.now) else {
            Issue.record("something is done by default")
            return
        }
    }

    @Test(arguments: ReplyAgent.Answer.allCases)
    func thePhoneHearsWhatBecameOfItsReplyAndOfNoOther(answer: ReplyAgent.Answer) throws {
        let agent = ReplyAgent(try token(), kinds: [], window: ReplyWindow(since: 0))
        let reply = try #require(PhoneReply(counter: 12, sentAt: 1, kind: "stop", text: "x"))
        let (sealed, told) = try #require(agent.sealed(answer, to: reply, at: ReplyChannelTests.now))
        let channel = try channel("to-phone", answering: 12)
        #expect(told.id == channel.id)
        let opened = try channel.open(sealed)
        #expect(ReplyAgent.Answer(opened, to: 12) == answer)
        #expect(ReplyAgent.Answer(opened, to: 1) == nil)
        let back = ReplyChannel(.toBisq, of: try token())
        #expect(throws: ReplyFault.notAuthentic) { try back.open(sealed) }
    }
}
