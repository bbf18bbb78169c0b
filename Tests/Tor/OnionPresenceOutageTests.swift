import Client
import Foundation
import Lab
import LabParts
import Logging
import Reactor
import Synchronization
import Testing

@testable import Tor

/// Outages that tor does not tell of, in a real network: each is noticed and mended without a hand.
@Suite(.serialized) struct OnionPresenceOutageTests {
    private let stage: Stage

    init() async throws { stage = try await Stage() }

    @Test @EventLoop func anOwnTorThatHangsIsKilledAndReplaced() async throws {
        let presence = try await stage.publishByOwnTor()
        let clock = Stopwatch("own tor, stopped")
        kill(try await stage.processOfOwnTor(), SIGSTOP)
        try await stage.wait { $0.state.isLostForSilence }
        clock.lap("noticed")
        try await stage.wait { $0.state.isPublished }
        clock.lap("published again")
        try await stage.dial()
        clock.lap("dialled")
        #expect(presence.figures.torStarts == 2)
        await presence.stop()
    }

    @Test @EventLoop func theSystemsTorThatHangsIsLeftAloneAndUsedWhenItGoesOn() async throws {
        let tor = try await SharedTorNetwork.network().startTor()
        let presence = try await stage.publish(by: tor)
        var clock = Stopwatch("system's tor, stopped")
        kill(tor.processID, SIGSTOP)
        try await stage.wait { $0.state.isLostForSilence }
        clock.lap("noticed")
        clock.restart()
        kill(tor.processID, SIGCONT)
        try await stage.wait { $0.state.isPublished }
        clock.lap("published again")
        try await stage.dial()
        clock.lap("dialled")
        await presence.stop()
        await tor.kill()
    }

    @Test @EventLoop func afterASleepOfTheMachineTheServiceIsPublishedAnew() async throws {
        let presence = try await stage.publishByOwnTor()
        let clock = Stopwatch("machine slept")
        stage.sleeper.sleep(.seconds(3600))
        // How long it is lost depends on how soon tor answers.
        try await stage.wait { $0.figures.suspensions == 1 }
        clock.lap("noticed")
        try await stage.wait { $0.state.isPublished }
        clock.lap("published again")
        try await stage.dial()
        clock.lap("dialled")
        #expect(presence.figures.suspensions == 1)
        #expect(presence.figures.torStarts == 1)
        await presence.stop()
    }

    @Test @EventLoop func anOwnTorWhoseNetworkWasSwitchedOffIsFoundOutByCallsAndReplaced() async throws {
        // The next call by the clock is not to be waited for.
        let presence = try await stage.publishByOwnTor { $0.selfDial.interval = .seconds(600) }
        try await stage.wait { $0.figures.selfDial.lastSuccess != nil }
        let clock = Stopwatch("DisableNetwork behind our back")
        let control = try await stage.controlOfOwnTor()
        try await control.send(.setConfiguration([("DisableNetwork", "1")]))
        control.close()
        try await stage.wait { $0.isCutOff }
        clock.lap("noticed")
        try await stage.wait { $0.figures.torStarts == 2 }
        clock.lap("own tor started anew")
        try await stage.wait { $0.state.isPublished && !$0.isCutOff }
        clock.lap("own call came through")
        try await stage.dial()
        clock.lap("dialled")
        await presence.stop()
    }

    /// Nobody calls, so what tor says of its circuits is all that is known: it counts again at each answer, and not while there
    /// is none.
    @Test @EventLoop func aTorWhoseNetworkWasSwitchedOffGivesNoSignWhateverItAnswers() async throws {
        let presence = try await stage.publishByOwnTor { $0.selfDial.interval = .zero }
        let first = try #require(presence.figures.lastSign)
        try await stage.wait {
            $0.figures.introductionPoints > 0 && $0.figures.lastSign.map { $0 > first } == true
        }
        let control = try await stage.controlOfOwnTor()
        try await control.send(.setConfiguration([("DisableNetwork", "1")]))
        try await stage.wait { $0.figures.introductionPoints == 0 }
        let last = try #require(presence.figures.lastSign)
        for _ in 0..<2 {
            let answer = try #require(presence.figures.lastAnswer)
            try await stage.wait { $0.figures.lastAnswer.map { $0 > answer } == true }
        }
        #expect(presence.figures.lastSign == last)
        try await control.send(.setConfiguration([("DisableNetwork", "0")]))
        control.close()
        try await stage.wait { $0.figures.lastSign.map { $0 > last } == true }
        await presence.stop()
    }

    /// Tor is alive and all its connections stand, but nothing goes through them. No call is due for ten minutes: the
    /// connection of the first one tells.
    @Test @EventLoop func aNetworkThatGoesAwayIsNoticedAndComesBack() async throws {
        let network = try await SharedTorNetwork.network()
        let peers = try PeersOfOurs()
        let port = try VirtualPort(9998, to: peers.endpoint)
        let presence = try await stage.publishByOwnTor([port]) {
            // No tor of a busy machine is taken for one that hangs: it would be started anew, without a network.
            $0.heartbeatDeadline = .seconds(60)
            $0.selfDial.interval = .seconds(600)
            $0.selfDial.lineInterval = .milliseconds(200)
            $0.selfDial.lineTimeout = .seconds(2)
            $0.selfDial.doors = [peers.door(port: 9998)]
        }
        try await stage.wait { $0.figures.selfDial.lastSuccess != nil }
        var clock = Stopwatch("network stands still")
        network.standStill()
        defer { network.goOn() }
        try await stage.wait { $0.isCutOff }
        clock.lap("noticed")
        clock.restart()
        network.goOn()
        try await stage.wait { $0.state.isPublished && !$0.isCutOff }
        clock.lap("own call came through again")
        try await stage.dial()
        clock.lap("dialled")
        await presence.stop()
    }
}

extension OnionState {
    /// Whichever of our questions was on its way when tor fell silent.
    fileprivate var isLostForSilence: Bool {
        if case .lost(.control(.timedOut)) = self { true } else { false }
    }
}

/// One presence in the shared network, with all its times short.
@EventLoop
private final class Stage {
    let directory = TemporaryDirectory()
    let sleeper = Sleeper()
    private let greeter: Greeter
    private var presence: OnionPresence!
    private var tor: TorProcessSettings!

    init() async throws { greeter = try Greeter("still here") }

    func publishByOwnTor(
        _ others: [VirtualPort] = [], _ change: (inout OnionPresenceSettings) -> Void = { _ in }
    ) async throws -> OnionPresence {
        let network = try await SharedTorNetwork.network()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let torrc = directory.path + "/torrc"
        try network.writeTorrc(basedOn: root.appending(path: "torrc").path, to: torrc)
        try network.seed(dataDirectory: directory.path + "/tor")
        tor = TorProcessSettings(torrc: torrc, dataDirectory: directory.path + "/tor", offersSocks: true)
        return try await publish(.own(tor), others, change)
    }

    func publish(by tor: LabTor) async throws -> OnionPresence {
        try await publish(.running(control: tor.control, tor.credentials))
    }

    private func publish(
        _ source: OnionPresenceSettings.Source, _ others: [VirtualPort] = [],
        _ change: (inout OnionPresenceSettings) -> Void = { _ in }
    ) async throws -> OnionPresence {
        var settings = OnionPresenceSettings(
            source: source, key: OnionKeyFile(path: directory.path + "/onion-key"))
        settings.heartbeat = .milliseconds(500)
        settings.heartbeatDeadline = .seconds(2)
        settings.uploadTime = .seconds(8)
        settings.sleptNanoseconds = sleeper.slept
        settings.selfDial.interval = .seconds(1)
        settings.selfDial.firstPause = .milliseconds(500)
        settings.selfDial.retryPause = .milliseconds(500)
        settings.selfDial.timeout = .seconds(4)
        settings.selfDial.doors = [
            SelfDialDoor(port: 9999) { stream, unread, _ in
                SelfDialReply(await Listening(to: stream, unread).words() == "still here" ? .own : .another)
            }
        ]
        change(&settings)
        presence = OnionPresence(settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await presence.start([VirtualPort(9999, to: greeter.endpoint)] + others)
        try await wait { $0.state.isPublished }
        try await dial()
        return presence
    }

    func wait(until isMet: @escaping @EventLoop (OnionPresence) -> Bool) async throws {
        let presence = presence!
        do {
            try await EventLoop.until { isMet(presence) }
        } catch {
            Issue.record("\(presence.state) \(presence.figures)")
            throw error
        }
    }

    func dial() async throws {
        #expect(
            try await Dialler.greeting(of: #require(presence.address), port: 9999) == "still here")
    }

    func controlOfOwnTor() async throws -> ControlConnection {
        try await .open(
            .unix(path: tor.controlSocket), credentials: ControlCredentials(cookieFile: tor.cookieFile))
    }

    func processOfOwnTor() async throws -> pid_t {
        let control = try await controlOfOwnTor()
        defer { control.close() }
        return try #require(
            try await control.send(.getInfo(["process/pid"]))["process/pid"].flatMap { pid_t($0) })
    }
}

/// A door that keeps its connections and answers whenever it is asked.
@EventLoop
private final class PeersOfOurs {
    private var listener: Listener!
    private var peers: [BisqPeer] = []

    init() throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            peers.append(BisqPeer(stream, unread: [], network: .mainnet))
        }
    }

    var endpoint: Endpoint { listener.endpoint }

    func door(port: UInt16) -> SelfDialDoor {
        SelfDialDoor(port: port) { stream, unread, deadline in
            let peer = BisqPeer(stream, unread: unread, network: .mainnet)
            @EventLoop func isAnswered(within limit: Duration) async -> Bool {
                (try? await peer.ping(deadline: limit)) != nil
            }
            guard await isAnswered(within: deadline) else { return SelfDialReply(.unanswered("no Pong")) }
            return SelfDialReply(
                .own,
                line: SelfDialLine(
                    ask: { await isAnswered(within: $0) ? .answered : .silent }, close: { peer.close() }))
        }
    }
}

/// A machine that sleeps when it is told to.
private final class Sleeper: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    var slept: @Sendable () -> Int64 { { self.nanoseconds.load(ordering: .relaxed) } }
    func sleep(_ time: Duration) { nanoseconds.add(time.nanoseconds, ordering: .relaxed) }
}
