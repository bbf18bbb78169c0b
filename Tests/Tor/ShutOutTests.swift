import Foundation
import Lab
import LabParts
import Reactor
import Testing

@testable import Tor

/// Whom the node puts out, and whom it leaves alone, in a real network.
@Suite(.serialized) struct ShutOutTests {
    let directory = TemporaryDirectory()

    /// Tor's circuits that stand, with what they are for.
    @EventLoop private func circuits(_ connection: ControlConnection) async throws -> [UInt32: String] {
        let reply = try await connection.send(.getInfo(["circuit-status"]))
        let lines = (reply["circuit-status"] ?? "").split(separator: "\n")
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                let words = line.split(separator: " ")
                guard let id = words.first.flatMap({ UInt32($0) }), words.contains("BUILT") else {
                    return nil
                }
                return (id, words.first { $0.hasPrefix("HS_STATE=") }.map(String.init) ?? "")
            })
    }

    /// Whoever names circuits by their numbers can't have introduction points closed, nor any circuit that is no
    /// client's.
    @Test @EventLoop func onlyCircuitsOfClientsAreEverClosed() async throws {
        let service = try await PublishedService(in: directory.path, isGuarded: true)
        let caller = try await Caller(service.socks, service.address, 9999, user: "honest")
        let line = await caller.line().split(separator: " ")
        let own = try #require(line.dropFirst(4).first.flatMap { UInt32($0) })
        let last = try await Caller(service.socks, service.address, 9999, user: "last")
        let lastLine = await last.line().split(separator: " ")
        let lastOwn = try #require(lastLine.dropFirst(4).first.flatMap { UInt32($0) })
        let connection = try await ControlConnection.open(
            .unix(path: directory.path + "/tor/control"),
            credentials: .init(cookieFile: directory.path + "/tor/control.authcookie"))
        let before = try await circuits(connection)
        #expect(before[own] == "HS_STATE=HSSR_JOINED")
        #expect(before.values.contains("HS_STATE=HSSI_ESTABLISHED"))
        let others = Set(before.keys).subtracting([own, lastOwn])
        for circuit in others { service.presence.closeCircuit(circuit) }
        // Tor does what it is asked in this order.
        service.presence.closeCircuit(lastOwn)
        await last.whenEnded()
        let after = try await circuits(connection)
        let lost = others.filter { before[$0] == "HS_STATE=HSSI_ESTABLISHED" && after[$0] == nil }
        print("\(before.count) circuits before, \(after.count) after, \(lost.count) introduction points lost")
        #expect(lost.isEmpty)
        #expect(await caller.echo("still here") == "still here")
        connection.close()
        let copy = directory.path + "/tor/service/hs_ed25519_secret_key"
        #expect(access(copy, F_OK) == 0)
        await service.presence.stop()
        #expect(access(copy, F_OK) != 0, "the second copy of the onion key outlives the node")
    }

    /// Tries once, by a circuit of its own.
    @EventLoop private func reaches(
        _ socks: Endpoint, _ address: OnionAddress, within limit: Duration
    ) async -> Bool {
        let route = SOCKS5Route(
            proxy: socks, host: address.description, port: 9999,
            credentials: SOCKS5Credentials(user: UUID().uuidString, password: "x"))
        do throws(SOCKS5Error) {
            try await Reactor.Stream.connect(through: route, deadline: limit).stream.close()
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: [true, false])
    @EventLoop func whoeverIsKeptOutIsOutAndOthersComeBack(isGuarded: Bool) async throws {
        let alice = ClientSecret.generate()
        let bob = ClientSecret.generate()
        let service = try await PublishedService(in: directory.path, isGuarded: isGuarded)
        let network = try await SharedTorNetwork.network()
        let (tors, name) = (
            [try await network.startTor(), try await network.startTor()], isGuarded ? "guarded" : "plain"
        )
        let (hers, his) = (try #require(tors[0].socks), try #require(tors[1].socks))
        // The first invitation, with a visitor who knows the way.
        let visitor = try await Caller(service.socks, service.address, 9999, user: "visitor")
        _ = await visitor.line()
        let clock = Stopwatch("\(name) service, first invitations")
        let watch = Watch(service.presence)
        service.presence.use(clients: [alice.publicKey, bob.publicKey])
        await visitor.whenEnded()
        clock.lap("the visitor's connection has ended")
        #expect(await !reaches(service.socks, service.address, within: .seconds(8)))
        try await watch.wait { $0.isPublished }
        clock.lap("published")
        for _ in 0..<3 { #expect(await !reaches(service.socks, service.address, within: .seconds(3))) }
        try await tors[0].connection.send(alice.command(for: service.address))
        try await tors[1].connection.send(bob.command(for: service.address))
        let friend = try await Caller(hers, service.address, 9999, user: "a")
        let former = try await Caller(his, service.address, 9999, user: "b")
        _ = (await friend.line(), await former.line())

        let revocation = Stopwatch("\(name) service, revocation")
        watch.restart()
        service.presence.use(clients: [alice.publicKey])
        await former.whenEnded()
        revocation.lap("his connection has ended")
        await friend.whenEnded()
        var isBack = false
        let comesBack = Task {
            _ = try await Caller(hers, service.address, 9999, user: "again")
            revocation.lap("she is back")
            isBack = true
        }
        // Until long after she is back.
        var attempts = 0, attemptsAfter = 0
        while attemptsAfter < 3, !Task.isCancelled {
            attempts += 1
            if isBack { attemptsAfter += 1 }
            #expect(await !reaches(his, service.address, within: .seconds(5)), "attempt \(attempts)")
        }
        revocation.lap("he has tried \(attempts) times")
        try await comesBack.value
        #expect(service.presence.figures.publications == 3)
        await service.presence.stop()
    }

    /// Whoever stays is not disturbed by those who come.
    @Test @EventLoop func oneMoreInvitationLeavesConnectionsOpen() async throws {
        let (alice, bob) = (ClientSecret.generate(), ClientSecret.generate())
        let service = try await PublishedService(in: directory.path, isGuarded: true) {
            $0.clients = [alice.publicKey]
        }
        let tor = try await SharedTorNetwork.network().startTor()
        try await tor.connection.send(alice.command(for: service.address))
        let friend = try await Caller(try #require(tor.socks), service.address, 9999, user: "a")
        _ = await friend.line()
        let watch = Watch(service.presence)
        service.presence.use(clients: [alice.publicKey, bob.publicKey])
        try await watch.wait { $0.isPublished }
        service.presence.use(clients: nil)
        #expect(await friend.echo("still here") == "still here")
        await service.presence.stop()
    }
}
