import LabParts
import Logging
import Reactor
import Testing

@testable import Tor

/// Whoever is put out is out, whatever else goes on with tor at that time.
@EventLoop
@Suite struct PutOutTests {
    private let directory = TemporaryDirectory()
    private let alice = ClientSecret.generate().publicKey
    private let bob = ClientSecret.generate().publicKey
    private let sleeper = Sleep()
    private let log = EventsOfLog()

    /// A service for Alice and Bob, who talks to it by circuit 7.
    private func open(
        _ change: (inout OnionPresenceSettings) -> Void = { _ in }
    ) async throws -> (presence: OnionPresence, tor: ServingTor) {
        let key = OnionKeyFile(path: directory.path + "/onion-key")
        let tor = try ServingTor(for: [try key.loadOrCreate().address])
        var settings = OnionPresenceSettings(source: tor.source, key: key)
        settings.form.clients = [alice, bob]
        settings.heartbeat = .milliseconds(5)
        settings.sleptNanoseconds = sleeper.slept
        change(&settings)
        let presence = OnionPresence(settings, log: log.logger)
        try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))])
        tor.circuits = [tor.client(7)]
        try await EventLoop.until { presence.figures.clientCircuits == 1 }
        return (presence, tor)
    }

    /// Waits until tor has the service in the form that was wished for last.
    private func settle(_ presence: OnionPresence, publications: Int) async throws {
        try await EventLoop.until {
            presence.figures.publications >= publications
                && presence.service?.has(presence.form) ?? false
        }
    }

    @Test func whileTheServiceIsGivenToTorAnew() async throws {
        let (presence, tor) = try await open()
        tor.instead = { command in
            if command.hasPrefix("DEL_ONION") { presence.use(clients: [alice]) }
            return nil
        }
        sleeper.sleep(.seconds(3600))
        try await settle(presence, publications: 2)
        #expect(tor.hasClosed(7))
        await presence.stop()
    }

    @Test func whileAnInvitationWaitsForItsUpload() async throws {
        let (presence, tor) = try await open()
        let carol = ClientSecret.generate().publicKey
        presence.use(clients: [alice, bob, carol])
        // Until the presence waits: a descriptor went out a moment ago.
        for _ in 0..<3 { await EventLoop.nextTurn() }
        presence.use(clients: [alice, carol])
        try await settle(presence, publications: 2)
        #expect(tor.hasClosed(7))
        await presence.stop()
    }

    /// Tor keeps open what its clients have with a service of an earlier connection.
    @Test(arguments: [true, false])
    func aroundTheEndOfAControlConnection(isDuring: Bool) async throws {
        let (presence, tor) = try await open()
        presence.onChange = { state in
            if case .lost = state, isDuring { presence.use(clients: [alice]) }
        }
        var isCut = false
        tor.instead = { command in
            guard command.hasPrefix("GETINFO version"), !isCut else { return nil }
            isCut = true
            return ""
        }
        try await EventLoop.until { isCut }
        try await settle(presence, publications: 2)
        if !isDuring {
            #expect(!tor.hasClosed(7))
            try await EventLoop.until { presence.figures.clientCircuits == 1 }
            presence.use(clients: [alice])
            try await settle(presence, publications: 3)
        }
        #expect(tor.hasClosed(7))
        await presence.stop()
    }

    /// What it tells of them is over a megabyte: more than any other answer may have.
    @Test func aTorWithManyCircuitsIsUsed() async throws {
        let (presence, tor) = try await open()
        let path = String(repeating: "x", count: 500)
        tor.circuits = (1...2_000).map { tor.client($0) + " \(path)" }
        try await EventLoop.until { presence.figures.clientCircuits == 2_000 }
        presence.use(clients: [alice])
        try await settle(presence, publications: 2)
        #expect(tor.hasClosed(2_000))
        #expect(presence.figures.losses == [:])
        await presence.stop()
    }

    /// As one behind a filter of its control port.
    @Test func aTorThatTellsNothingOfCircuitsIsUsed() async throws {
        let key = OnionKeyFile(path: directory.path + "/onion-key")
        let tor = try ServingTor(for: [try key.loadOrCreate().address])
        tor.instead = { $0 == "GETINFO circuit-status" ? "510 Command filtered\r\n" : nil }
        let presence = OnionPresence(.init(source: tor.source, key: key), log: log.logger)
        try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))])
        #expect(presence.figures.publications == 1)
        await presence.stop()
    }

    /// The operator reads what tor has said, not that we have closed the connection for it.
    @Test func aServiceThatTorRefusesIsLostForThat() async throws {
        let (presence, tor) = try await open()
        var losses: [OnionLoss] = []
        presence.onChange = { if case .lost(let loss) = $0 { losses.append(loss) } }
        var isRefused = false
        tor.instead = { command in
            guard command.hasPrefix("ADD_ONION"), !isRefused else { return nil }
            isRefused = true
            return "551 Failed to generate onion address\r\n"
        }
        presence.use(clients: [alice])
        try await settle(presence, publications: 2)
        let isTold = losses.contains { if case .control(.refused) = $0 { true } else { false } }
        #expect(isTold, "\(losses)")
        #expect(!losses.contains(.control(.closed)))
        await presence.stop()
    }

    /// What ends there is the control connection: nothing is known of SOCKS, nor of the address.
    @Test(arguments: [true, false])
    func aCallThatLosesTheControlConnectionSaysNothing(isOurs: Bool) async throws {
        let (presence, tor) = try await open { settings in
            if isOurs, case .running(let control, let credentials, _) = settings.source {
                settings.source = .running(control: control, credentials, isOurs: true)
            }
            settings.selfDial.interval = .seconds(3600)
            settings.selfDial.firstPause = .zero
        }
        // Nothing is called before it is published.
        var asked = 0
        tor.instead = { command in
            guard command == "GETINFO net/listeners/socks" else { return nil }
            asked += 1
            return asked == 1 ? "" : nil
        }
        let id = try #require(presence.address).serviceID
        tor.events = ["HS_DESC UPLOAD \(id) UNKNOWN $00", "HS_DESC UPLOADED \(id) UNKNOWN $00"]
        try await EventLoop.until { presence.figures.publications == 2 }
        #expect(!log.all.contains("onion.self_dial_disabled"))
        #expect(!log.all.contains("onion.self_dial_failed"))
        #expect(presence.figures.selfDial.failures == 0)
        await presence.stop()
    }
}

/// A machine that sleeps when it is told to.
@EventLoop
private final class Sleep {
    private nonisolated(unsafe) var nanoseconds: Int64 = 0

    nonisolated var slept: @Sendable () -> Int64 { { self.nanoseconds } }
    func sleep(_ time: Duration) { nanoseconds += time.nanoseconds }
}
