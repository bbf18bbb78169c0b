import Foundation
import Lab
import LabParts
import Logging
import Reactor
import Testing

@testable import Tor

/// A node's onion service in a real network, whatever happens to its tor.
@Suite(.serialized) struct OnionPresenceNetworkTests {
    let directory = TemporaryDirectory()
    var key: OnionKeyFile { OnionKeyFile(path: directory.path + "/onion-key") }

    @Test @EventLoop func anOwnTorIsPublishedWithAllItsPortsAndAgainWhenItIsKilled() async throws {
        let network = try await SharedTorNetwork.network()
        let first = try Greeter("first")
        let second = try Greeter("second", on: .unix(path: directory.path + "/second"))
        let tor = try own(in: network)
        var settings = OnionPresenceSettings(
            source: .own(tor), key: key)
        settings.uploadTime = .seconds(60)
        settings.heartbeat = .milliseconds(200)
        let presence = OnionPresence(settings, log: quiet)
        let watch = Watch(presence)
        var clock = Stopwatch("own tor")
        try await presence.start([
            VirtualPort(9999, to: first.endpoint), VirtualPort(80, to: second.endpoint),
        ])
        clock.lap("in tor's hands")
        try await EventLoop.until { presence.state.isPublished }
        clock.lap("published")
        let address = try #require(presence.address)
        #expect(try await Dialler.greeting(of: address, port: 9999) == "first")
        #expect(try await Dialler.greeting(of: address, port: 80) == "second")
        clock.lap("dialled twice")
        #expect(try await !Dialler.reaches(address, port: 81))
        let order = watch.states.map(\.word).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        #expect(order.first == "bootstrapping" || order.first == "publishing")
        #expect(order.last == "published")
        let figures = presence.figures
        #expect(figures.isConnected && figures.torStarts == 1 && figures.publications == 1)
        #expect(figures.bootstrap?.progress == 100)
        #expect(figures.uploads > 0 && figures.uploads <= figures.uploadsBegun && figures.lastUpload != nil)
        // Tor is asked for its circuits now and then.
        try await EventLoop.until {
            presence.figures.introductionPoints >= 3 && presence.figures.clientCircuits > 0
        }
        #expect(presence.figures.lastClient == nil)
        presence.clientCame()
        #expect(presence.figures.lastClient != nil)
        let circuits = presence.figures
        #expect(circuits.circuits >= circuits.introductionPoints + circuits.clientCircuits)

        clock.restart()
        watch.restart()
        kill(try await processID(of: tor), SIGKILL)
        try await watch.wait { if case .lost = $0 { true } else { false } }
        clock.lap("death of the own tor noticed")
        #expect(presence.state == .lost(.process(.ended(.signalled(SIGKILL), lastWords: ""))))
        try await watch.wait { $0 == .publishing }
        clock.lap("in the network again")
        try await EventLoop.until { presence.state.isPublished }
        clock.lap("published again")
        #expect(presence.address == address)
        #expect(presence.figures.torStarts == 2)
        #expect(presence.figures.losses == ["process": 1])
        #expect(try await Dialler.greeting(of: address, port: 9999) == "first")
        clock.lap("dialled")

        let process = try await processID(of: tor)
        clock.restart()
        await presence.stop()
        clock.lap("stopped")
        #expect(presence.state == .stopped)
        #expect(kill(process, 0) != 0)
    }

    @Test @EventLoop func theSystemsTorIsUsedAndPublishedAgainWhenTheControlConnectionBreaks() async throws {
        let network = try await SharedTorNetwork.network()
        let tor = try await network.startTor()
        let relay = try ControlRelay(to: tor.control)
        let greeter = try Greeter("still here")
        let presence = OnionPresence(
            .init(source: .running(control: relay.endpoint, tor.credentials), key: key), log: quiet)
        let watch = Watch(presence)
        var clock = Stopwatch("system's tor")
        try await presence.start([VirtualPort(9999, to: greeter.endpoint)])
        try await EventLoop.until { presence.state.isPublished }
        clock.lap("published")
        let address = try #require(presence.address)
        #expect(presence.socks == tor.socks)
        #expect(try await Dialler.greeting(of: address, port: 9999) == "still here")
        clock.lap("dialled")

        clock.restart()
        watch.restart()
        relay.cut()
        try await watch.wait { $0 == .lost(.control(.closed)) }
        clock.lap("cut of the control connection noticed")
        try await EventLoop.until { presence.state.isPublished }
        clock.lap("published again")
        #expect(try await Dialler.greeting(of: address, port: 9999) == "still here")
        clock.lap("dialled")

        // A reload takes nothing from a service that lives on a control connection.
        try await tor.connection.send(ControlCommand("SIGNAL", ["RELOAD"]))
        #expect(try await Dialler.greeting(of: address, port: 9999) == "still here")
        #expect(presence.state.isPublished)

        clock.restart()
        watch.restart()
        await tor.kill()
        try await watch.wait { if case .lost = $0 { true } else { false } }
        clock.lap("death of the system's tor noticed")
        try await tor.restart()
        clock.lap("system's tor back")
        try await EventLoop.until { presence.state.isPublished }
        clock.lap("published again")
        #expect(try await Dialler.greeting(of: address, port: 9999) == "still here")
        clock.lap("dialled")

        await presence.stop()
        // Nothing is left of it in the system's tor: its address is free.
        _ = try await OnionService.publish(
            key: try #require(key.load()), ports: [VirtualPort(1, to: greeter.endpoint)], on: tor.connection)
    }

    @Test @EventLoop func aServiceThatIsNotUploadedInTimeIsGivenToTorAnew() async throws {
        let network = try await SharedTorNetwork.network()
        let tor = try await network.startTor()
        var settings = OnionPresenceSettings(
            source: .running(control: tor.control, tor.credentials), key: key)
        // Tor needs over a second for the first upload.
        settings.uploadTime = .milliseconds(300)
        let presence = OnionPresence(settings, log: quiet)
        let watch = Watch(presence)
        try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))])
        try await EventLoop.until { presence.state.isPublished }
        #expect(watch.states.contains(.lost(.notUploaded(after: .milliseconds(300)))))
        await presence.stop()
    }

    @EventLoop private func own(in network: PrivateTorNetwork) throws -> TorProcessSettings {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let torrc = directory.path + "/torrc"
        try network.writeTorrc(basedOn: root.appending(path: "torrc").path, to: torrc)
        let dataDirectory = directory.path + "/tor"
        try network.seed(dataDirectory: dataDirectory)
        return TorProcessSettings(torrc: torrc, dataDirectory: dataDirectory, offersSocks: false)
    }

    @EventLoop private func processID(of tor: TorProcessSettings) async throws -> pid_t {
        let connection = try await ControlConnection.open(
            .unix(path: tor.controlSocket), credentials: .init(cookieFile: tor.cookieFile))
        defer { connection.close() }
        let reply = try await connection.send(.getInfo(["process/pid"]))
        return try #require(reply["process/pid"].flatMap { pid_t($0) })
    }

    private var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// All states of a presence, as they came.
@EventLoop
final class Watch {
    private(set) var states: [OnionState] = []

    init(_ presence: OnionPresence) {
        presence.onChange = { [weak self] in self?.states.append($0) }
    }

    /// Forgets what came so far.
    func restart() { states = [] }

    /// Until there is such a state among those since ``restart()``.
    func wait(_ isMet: @escaping @EventLoop (OnionState) -> Bool) async throws {
        do {
            try await EventLoop.until { self.states.contains(where: isMet) }
        } catch {
            Issue.record("no such state: \(states)")
            throw error
        }
    }
}

/// Prints what took how long.
struct Stopwatch {
    private let name: String
    private var start = ContinuousClock.now

    init(_ name: String) { self.name = name }

    mutating func restart() { start = .now }

    func lap(_ event: String) {
        let time = ContinuousClock.now - start
        print(
            "\(name): \(event) after \(time.formatted(.units(allowed: [.seconds, .milliseconds], width: .narrow)))"
        )
    }
}
