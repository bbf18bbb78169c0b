import Clocks
import HTTP2
import Lab
import Logging
import Outbound
import Reactor
import Relay
import Testing
import Vectors

@testable import Gateways

/// Push servers with bad manners: none of them holds a notification up for ever, loses it or takes the node elsewhere.
@Suite(.serialized) @EventLoop struct WebPushFaultTests {
    /// Every status of a redirect, as often as there are browsers that follow no more: no other place is ever asked.
    @Test func threeHundredRedirectsLeadNowhere() async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        let statuses = [300, 301, 302, 303, 307, 308]
        world.server.faults = FaultScript(
            statuses.map { FaultRule(.text(status: $0, "elsewhere"), times: 50) })
        for status in statuses {
            for number in 0..<50 {
                let outcome = await world.gateway.deliver(webPush(to: browser, id: UInt64(number)))
                #expect(outcome == .deferred(Deferral(reason: "HTTP\(status)", scope: .host)))
            }
        }
        #expect(world.server.figures.requests == 300 && world.server.figures.connections == 1)
        #expect(world.server.book.isEmpty)
        #expect(await world.gateway.deliver(webPush(to: browser)) == .accepted)
        world.end()
    }

    @Test(arguments: [
        GatewayFault.resetStream(.internalError), .resetStream(.refusedStream), .resetStream(.cancel),
        .closeConnection(.beforeDelivery), .closeConnection(.beforeAnswer),
        .goaway(reason: nil, isGraceful: false),
        .goaways(reason: nil),
    ])
    func afterAFaultOfHTTP2ItIsTriedAgain(fault: GatewayFault) async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        #expect(await world.gateway.deliver(webPush(to: browser)) == .accepted)
        world.server.faults = FaultScript([FaultRule(fault, times: 1)])
        switch await world.gateway.deliver(webPush(to: browser, id: 2)) {
        case .deferred, .accepted: break
        case let other: Issue.record("\(fault): \(other)")
        }
        #expect(world.gateway.fault == nil)
        // The lane's next attempt, over whatever connection there is then.
        var outcome = await world.gateway.deliver(webPush(to: browser, id: 2))
        if outcome != .accepted { outcome = await world.gateway.deliver(webPush(to: browser, id: 2)) }
        #expect(outcome == .accepted, "\(fault)")
        let topics = world.server.book.dropFirst().compactMap { $0.headers["topic"] }
        #expect(Set(topics).count == 1, "whatever came twice replaces itself")
        world.end()
    }

    /// Slow, or silent: the deadline ends the wait.
    @Test(
        arguments: [GatewayFault.silence(isDelivered: true), .delay(.seconds(30))], [["h2"], ["http/1.1"]])
    func whoeverAnswersTooSlowlyIsAskedAgainLater(fault: GatewayFault, protocols: [String]) async throws {
        let world = try WebPushWorld(protocols: protocols, request: .seconds(1))
        let browser = try world.browser()
        world.server.faults = FaultScript([FaultRule(fault, times: 1)])
        switch await world.gateway.deliver(webPush(to: browser)) {
        case .deferred: break
        case let other: Issue.record("\(other)")
        }
        var outcome = await world.gateway.deliver(webPush(to: browser))
        if outcome != .accepted { outcome = await world.gateway.deliver(webPush(to: browser)) }
        #expect(outcome == .accepted)
        world.end()
    }

    /// A failure is news for what waits just then: a notification of hours later gets a connection of its own.
    @Test func aFailureIsNotKeptForWhatComesLater() async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        let other = try WebPushWorld(trusts: try LabCredentials())
        other.gateway.noteBacklog()
        try await EventLoop.until { other.gateway.figures.connectionFailures > 0 }
        // The news comes at the end of the turn, and is over with it.
        await EventLoop.nextTurn()
        #expect(other.gateway.capacity == 0 && other.gateway.fault == nil)
        // The connection broke under a request: the next one goes over another connection.
        world.server.faults = FaultScript([FaultRule(.closeConnection(.beforeDelivery), times: 1)])
        #expect(await world.gateway.deliver(webPush(to: browser)) != .accepted)
        #expect(await world.gateway.deliver(webPush(to: browser, id: 2)) == .accepted)
        world.end()
        other.end()
    }

    /// RFC 8030, section 5.2: a server may keep a message for a shorter time than it lives, and says so. The operator reads
    /// it once.
    @Test(arguments: [Int.max, 60])
    func aServerThatKeepsMessagesBrieflyIsTold(life: Int) async throws {
        let lines = LogLines()
        let world = try WebPushWorld(
            longestLife: life, log: Logger(label: "test") { _ in LineLog(lines: lines) })
        let browser = try world.browser()
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(await world.gateway.deliver(webPush(to: browser, id: id)) == .accepted)
        }
        #expect(lines.texts == (life == 60 ? ["gateway.keeps_briefly 60"] : []))
        world.end()
    }

    /// What an ntfy server says of its topics is no matter of the node's key, which must stay.
    @Test(arguments: [true, false])
    func aTopicThatNobodyMayWriteToSpeaksAgainstNoKey(isNamed: Bool) async throws {
        let lines = LogLines()
        let world = try WebPushWorld(
            .unifiedPush, isNamed: isNamed, log: Logger(label: "test") { _ in LineLog(lines: lines) })
        world.server.faults = FaultScript([
            FaultRule(.text(status: 403, #"{"code":40301,"http":403,"error":"forbidden"}"#))
        ])
        let word = WebPushAnswer.topicForbidden
        let alone = Outcome.deferred(
            Deferral(reason: word, scope: .device, retryAfter: RefusedPhones.pause))
        // One phone's topic is not the server's.
        for _ in 0..<2 {
            let browser = try world.browser()
            for id in 1...2 as ClosedRange<UInt64> {
                let outcome = await world.gateway.deliver(webPush(to: browser, id: id))
                #expect(outcome == (isNamed ? alone : .refused(reason: word)))
            }
        }
        let outcome = await world.gateway.deliver(webPush(to: try world.browser()))
        #expect(outcome == (isNamed ? .blocked(reason: word) : .refused(reason: word)))
        #expect(
            lines.texts == Array(repeating: "gateway.topic_forbidden -", count: isNamed ? 5 : 0))
        world.end()
    }

    /// Nobody has looked in between: for all that is known the name was there, and now it is away for a moment once more.
    @Test func aServerThatNobodyAskedForWasNotAwayMeanwhile() {
        let absence = ServerAbsence()
        let first = MonotonicTime.second(0) + ServerAbsence.patience
        absence.missed(at: first)
        let later = first + ServerAbsence.patience * 24
        absence.missed(at: later)
        #expect(!absence.isForGood(at: later, lastFound: later))
        let end = later + ServerAbsence.patienceWithStrangers
        absence.missed(at: end)
        #expect(absence.isForGood(at: end, lastFound: end))
    }

    /// A name that somebody made up does not hold one of the lanes for weeks. As long as no other name was found either,
    /// it may be the name servers' fault.
    @Test func aServerThatThereNeverWasIsGivenUpSoon() async throws {
        let patience = ServerAbsence.patience
        let first = MonotonicTime.second(0) + patience
        let later = first + .nanoseconds(1)
        let absence = ServerAbsence()
        absence.hasDelivered = true
        #expect(!absence.isForGood(at: first + patience * 8, lastFound: first + patience * 7))
        absence.missed(at: first)
        absence.missed(at: first + .nanoseconds(5))
        #expect(!absence.isForGood(at: first + patience - .nanoseconds(1), lastFound: later))
        #expect(!absence.isForGood(at: first + patience, lastFound: first))
        #expect(absence.isForGood(at: first + patience, lastFound: later))
        absence.found()
        #expect(!absence.isForGood(at: first + patience * 8, lastFound: first + patience * 7))
        // One that never took anything has ten minutes.
        let stranger = ServerAbsence()
        stranger.missed(at: first)
        let short = patience / 6
        #expect(!stranger.isForGood(at: first + short - .nanoseconds(1), lastFound: later))
        #expect(stranger.isForGood(at: first + short, lastFound: later))

        for isNamed in [true, false] {
            let world = try WebPushWorld(isNamed: isNamed)
            let browser = try world.browser()
            world.server.close()
            world.gateway.absence.missed(at: EventLoop.now - patience)
            world.shared.lastFound = EventLoop.now
            let outcome = await world.gateway.deliver(webPush(to: browser))
            #expect(
                outcome
                    == (isNamed
                        ? .deferred(Deferral(reason: "Unreachable", scope: .host))
                        : .refused(reason: "NoSuchServer")))
            world.end()
        }
    }
}

/// What a gateway has logged.
final class LogLines: @unchecked Sendable {
    // Unchecked: written and read on the event loop only.
    var texts: [String] = []
}

struct LineLog: LogHandler {
    let lines: LogLines
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    init(lines: LogLines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.texts.append("\(event.message) \(event.metadata?["seconds"].map { "\($0)" } ?? "-")")
    }
}
