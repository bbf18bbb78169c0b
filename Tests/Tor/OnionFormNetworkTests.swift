import Foundation
import Lab
import LabParts
import Logging
import Reactor
import Testing

@testable import Tor

/// Circuit ids, private services and proof of work in a real network.
@Suite(.serialized) struct OnionFormNetworkTests {
    let directory = TemporaryDirectory()

    @EventLoop private func publish(
        isGuarded: Bool, _ change: (inout OnionForm) -> Void = { _ in }
    ) async throws -> PublishedService {
        try await PublishedService(in: directory.path, isGuarded: isGuarded, change)
    }

    @Test @EventLoop func streamsOfOneClientComeByOneCircuitWhichCanBeClosedAndOthersStay() async throws {
        let service = try await publish(isGuarded: true) {
            $0.proofOfWork = .init(perSecond: 250, burst: 2500)
            $0.streamsPerCircuit = 64
        }
        let first = try await Caller(service.socks, service.address, 9999, user: "one")
        let second = try await Caller(service.socks, service.address, 80, user: "one")
        let other = try await Caller(service.socks, service.address, 9999, user: "other")
        let lines = [await first.line(), await second.line(), await other.line()].map {
            $0.split(separator: " ")
        }
        for line in lines { try #require(line.count == 6, "\(lines)") }
        #expect(lines.map { $0[0] } == ["PROXY", "PROXY", "PROXY"])
        #expect(lines[0][2] == lines[1][2] && lines[0][2] != lines[2][2])
        #expect(lines.map { $0[5] } == ["9999", "80", "9999"])

        service.presence.closeCircuit(try #require(UInt32(lines[0][4])))
        await first.whenEnded()
        await second.whenEnded()
        #expect(!other.hasEnded)
        #expect(await other.echo("still here") == "still here")
        await service.presence.stop()
    }

    /// What a client's tor did, by its own log.
    @EventLoop private func clientLog(_ body: (Endpoint) async throws -> Void) async throws -> String {
        let path = "\(directory.path)/client-\(UUID().uuidString)"
        let tor = try await SharedTorNetwork.network().startTor(["Log [rend]debug [*]notice file \(path)"])
        try await body(try #require(tor.socks))
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test @EventLoop func aClientIsToldThatWorkMayBeAskedFor() async throws {
        let service = try await publish(isGuarded: true) {
            $0.proofOfWork = .init(perSecond: 250, burst: 2500)
        }
        let log = try await clientLog { socks in
            _ = await (try await Caller(socks, service.address, 9999, user: "a")).line()
        }
        let words = log.split(separator: "\n").filter { $0.contains("PoW params present in descriptor") }
        #expect(words.contains { $0.contains("suggested_effort=0") }, "\(words)")
        await service.presence.stop()
    }

    /// Tor looks only every five minutes whether it is overrun: by hand, with WORK=1.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["WORK"] != nil, "it takes six minutes: WORK=1"))
    @EventLoop func aClientDoesTheWorkThatAnOverrunTorAsksForAndIsLetIn() async throws {
        let service = try await publish(isGuarded: true) { $0.proofOfWork = .init(perSecond: 1, burst: 1) }
        let crowd = try #require(try await SharedTorNetwork.network().startTor().socks)
        let end = ContinuousClock.now + .seconds(330)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    while ContinuousClock.now < end {
                        let route = SOCKS5Route(
                            proxy: crowd, host: service.address.description, port: 9999,
                            credentials: SOCKS5Credentials(user: UUID().uuidString, password: "x"))
                        try? await Stream.connect(through: route, deadline: .seconds(10)).stream.close()
                    }
                }
            }
        }
        let log = try await clientLog { socks in
            _ = await (try await Caller(socks, service.address, 9999, user: "a")).line()
        }
        for line in log.split(separator: "\n") where line.contains("PoW") { print(line) }
        #expect(log.contains("Got a PoW solution we like"))
        await service.presence.stop()
    }

    /// Tor forgets what was set on a control connection when it reads its files anew.
    @Test @EventLoop func aReloadedTorIsGivenTheServiceAgain() async throws {
        let service = try await publish(isGuarded: true)
        let watch = Watch(service.presence)
        let open = try await Caller(service.socks, service.address, 9999, user: "open")
        _ = await open.line()
        let clock = Stopwatch("guarded service")
        let connection = try await ControlConnection.open(
            .unix(path: directory.path + "/tor/control"),
            credentials: .init(cookieFile: directory.path + "/tor/control.authcookie"))
        try await connection.send(ControlCommand("SIGNAL", ["RELOAD"]))
        try await watch.wait { $0 == .publishing }
        clock.lap("given to tor again")
        try await EventLoop.until { service.presence.state.isPublished }
        clock.lap("published again")
        let caller = try await Caller(service.socks, service.address, 9999, user: "later")
        #expect(await caller.line().hasPrefix("PROXY "))
        clock.lap("dialled")
        // With the service went its clients' circuits.
        await open.whenEnded()
        connection.close()
        await service.presence.stop()
    }

    @Test(arguments: [true, false])
    @EventLoop func aPrivateServiceIsFoundByThoseInvitedOnly(isGuarded: Bool) async throws {
        let alice = ClientSecret.generate()
        let bob = ClientSecret.generate()
        let service = try await publish(isGuarded: isGuarded) { $0.clients = [alice.publicKey] }
        let network = try await SharedTorNetwork.network()
        let tor = try await network.startTor()
        let socks = try #require(tor.socks)

        #expect(try await !Dialler.reaches(service.address, port: 9999))
        try await tor.connection.send(alice.command(for: service.address))
        _ = await (try await Caller(socks, service.address, 9999, user: "a")).line()

        // Somebody else is invited, and the first one no more.
        let watch = Watch(service.presence)
        let clock = Stopwatch(isGuarded ? "guarded service" : "plain service")
        service.presence.use(clients: [bob.publicKey])
        try await watch.wait { $0.isPublished }
        clock.lap("published for other clients")
        let later = try await network.startTor()
        let laterSocks = try #require(later.socks)
        try await later.connection.send(alice.command(for: service.address))
        #expect(try await !reaches(laterSocks, service.address))
        try await later.connection.send(bob.command(for: service.address))
        _ = await (try await Caller(laterSocks, service.address, 9999, user: "b")).line()

        // Nobody, and then everybody.
        watch.restart()
        service.presence.use(clients: [])
        try await watch.wait { $0.isPublished }
        #expect(try await !Dialler.reaches(service.address, port: 9999))
        watch.restart()
        service.presence.use(clients: nil)
        try await watch.wait { $0.isPublished }
        _ = await (try await Caller(service.socks, service.address, 9999, user: "public")).line()
        await service.presence.stop()
    }

    /// As many as may be invited: their keys must fit into a descriptor.
    @Test @EventLoop func aServiceTakesAsManyClientsAsMayBeInvited() async throws {
        let alice = ClientSecret.generate()
        let others = (1..<Invitations.limit).map { _ in ClientSecret.generate().publicKey }
        let service = try await publish(isGuarded: true) { $0.clients = Set(others + [alice.publicKey]) }
        let tor = try await SharedTorNetwork.network().startTor()
        try await tor.connection.send(alice.command(for: service.address))
        let caller = try await Caller(try #require(tor.socks), service.address, 9999, user: "a")
        #expect(await caller.line().hasPrefix("PROXY "))
        await service.presence.stop()
    }

    @EventLoop private func reaches(_ socks: Endpoint, _ address: OnionAddress) async throws -> Bool {
        let route = SOCKS5Route(
            proxy: socks, host: address.description, port: 9999,
            credentials: SOCKS5Credentials(user: UUID().uuidString, password: "x"))
        do throws(SOCKS5Error) {
            try await Stream.connect(through: route, deadline: .seconds(15)).stream.close()
            return true
        } catch {
            return false
        }
    }
}
