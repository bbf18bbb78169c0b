import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// A real onionbalance before real nodes, in the private Tor network.
@EventLoop
@Suite(.serialized) struct FrontTests {
    private func command(_ stage: NodeTests.Stage, _ words: String...) throws -> CommandResult {
        try run([program] + words + ["--config", stage.configuration])
    }

    private func ownAddress(of stage: NodeTests.Stage) throws -> String {
        let shown = try command(stage, "key", "show")
        return String(try #require(shown.output.split(separator: "\n").first, "\(shown)"))
    }

    private func dial(_ address: String, by socks: Endpoint) async throws -> BisqPeer {
        try await BisqPeer.dial(
            .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(10))
    }

    /// Which of these nodes a notification by the front has gone through.
    private func isDelivered(
        _ number: Int, by socks: Endpoint, at address: String, to stages: [NodeTests.Stage]
    ) async throws
        -> Int
    {
        let peer = try await dial(address, by: socks)
        defer { peer.close() }
        let wanted = request(number, awaitsOutcome: true)
        #expect(try await peer.outcome(of: wanted).status == .delivered)
        return try #require(
            stages.firstIndex { stage in
                stage.world.apple.book.contains { $0.deviceToken == wanted.deviceToken }
            })
    }

    /// What a client's tor says of the service's wish for work.
    private func asksForWork(_ address: String) async throws -> Bool {
        let directory = try LabDirectory()
        let log = directory.path + "/log"
        let tor = try await SharedTorNetwork.network().startTor(["Log [rend]debug [*]notice file \(log)"])
        try await dial(address, by: try #require(tor.socks)).close()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        await directory.remove()
        return text.contains("PoW params present in descriptor")
    }

    private func frontCheck(of stage: NodeTests.Stage) async throws -> JSON? {
        let socket = stage.world.directory.path + "/management"
        return try await Task.detached { try health(over: socket)["checks"]?["front"] }.value
    }

    @Test(.enabled(if: LabFront.isInstalled, "onionbalance is not installed: Deploy/tools/dependencies test"))
    func anAddressIsHandedToOnionbalanceAndOutlivesANode() async throws {
        // A node that has an address already.
        let first = try await NodeTests.Stage()
        let address = first.address
        #expect(try await isDelivered(1, by: first.socks, at: address, to: [first]) == 0)

        // It goes over to onionbalance, and the node gets a new one.
        await first.node.stop()
        let key = first.world.directory.path + "/front-key"
        #expect(try command(first, "key", "export", key).status == 0)
        let onionKey = first.world.state + "/onion-key"
        #expect(rename(onionKey, onionKey + "-of-front") == 0)
        let settings = "onion: {public_address: \(address), self_dial_interval: 1}\n"
        let text = try String(contentsOfFile: first.configuration, encoding: .utf8)
        try (text + settings).write(toFile: first.configuration, atomically: true, encoding: .utf8)
        try await first.startAgain()
        let second = try await NodeTests.Stage(more: [settings])
        let stages = [first, second]
        // What clients are told is the front's address.
        for stage in stages {
            #expect(stage.address == address)
            let pointed = try command(stage, "point", "bisq1")
            #expect(pointed.output.contains(address), "\(pointed)")
        }
        let own = try stages.map { try ownAddress(of: $0) }
        #expect(Set(own + [address]).count == 3)
        let status = try command(first, "status")
        #expect(status.output.contains(address) && status.output.contains("of this node: \(own[0])"))

        let front = try await LabFront.start(key: key, to: own, in: SharedTorNetwork.network())
        let onionbalance = front.program
        // A client keeps a descriptor as long as its introduction points answer: so it looks for one when both nodes are in it.
        try await front.published(2)
        // A directory may not have the last one yet, and then it is another client's turn.
        var client = first.socks
        var met: Set<Int> = []
        for turn in 0..<3 where met.count < 2 {
            client = try #require(try await SharedTorNetwork.network().startTor().socks)
            // By new circuits.
            for number in 0..<20 where met.count < 2 {
                met.insert(try await isDelivered(2 + 20 * turn + number, by: client, at: address, to: stages))
            }
        }
        #expect(met == [0, 1], "\(onionbalance.lines.suffix(10))")
        // The nodes call it too, whichever of them answers.
        for stage in stages {
            try await until {
                try await frontCheck(of: stage)?["state"]?.string?.contains("clients use answered") == true
            }
            #expect(!stage.node.lines.contains { $0.contains("key_in_use_elsewhere") })
        }

        let (configuration, socks) = (first.configuration, first.socks)
        let doctor = try await Task.detached {
            try run([program, "doctor", "--socks", "\(socks)", "--config", configuration])
        }.value
        #expect(doctor.output.contains("pass  onion.dial: port 9999 answers"), "\(doctor)")

        // What the descriptor of the front does not say.
        #expect(try await asksForWork(own[1]))
        #expect(try await !asksForWork(address))

        await first.node.kill()
        for number in 100..<103 {
            #expect(try await isDelivered(number, by: client, at: address, to: stages) == 1)
        }

        // Nobody may be invited, and onionbalance can't read what somebody invited by hand has made of it.
        let invited = try command(second, "invite", "alice")
        #expect(invited.status == 78 && invited.errors.contains("cannot pass clients on to a private node"))
        _ = try Invitations(path: second.world.state + "/peers").invite("alice")
        await onionbalance.wait { program in
            program.exit != nil
                || program.lines.contains { $0.contains("Received bad descriptor for \(own[1].dropLast(6))") }
        }
        #expect(onionbalance.exit == nil, "\(onionbalance.lines.suffix(5))")
        let check = try command(second, "check-config")
        #expect(check.status == 78 && check.errors.contains("onion.public_address: \(address) is not"))
        await second.node.stop()
        let start = try run([nodeProgram, "--config", second.configuration])
        #expect(start.status == 78 && (start.output + start.errors).contains("onion.public_address"))

        await front.stop()
        await first.close()
        await second.close()
    }

    // MARK: Nodes of one database

    private struct NotMet: Error { let description: String }

    /// Sends to the front until it is told that this one was delivered, by new circuits where a connection ends.
    private func deliver(_ numbers: ClosedRange<Int>, by socks: Endpoint, at address: String) async throws {
        var peer = try await dial(address, by: socks)
        defer { peer.close() }
        for number in numbers {
            while true {
                do {
                    let wanted = request(number, awaitsOutcome: true)
                    // By a circuit to a node that was lost nothing comes any more.
                    let status = try await peer.outcome(of: wanted, deadline: .seconds(30)).status
                    if status == .delivered { break }
                    try #require(status == .busy, "\(number): \(status as Any)")
                    try await Task.sleep(for: .milliseconds(100))
                } catch is PeerError {
                    peer.close()
                    peer = try await dial(address, by: socks)
                }
            }
        }
    }

    /// How many peers were told by this node, since its start, that it has what they sent.
    private func stored(by stage: NodeTests.Stage) async throws -> Int {
        let socket = stage.world.directory.path + "/management"
        let page = try await Task.detached {
            try run(["curl", "-s", "--unix-socket", socket, "http://localhost/metrics"]).output
        }.value
        let name = "onionbell_submissions_total{endpoint=\"peer\",result=\"stored\"} "
        let line = page.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }

    @Test(
        .enabled(if: LabFront.isInstalled, "onionbalance is not installed: Deploy/tools/dependencies test"),
        .enabled(if: isLong, "only in Deploy/test --long; SharedDatabaseTests has the short form"))
    func threeNodesOfOneDatabaseDeliverEverythingOnceWhicheverIsLost() async throws {
        let server = try PostgreSQLServer.shared.get()
        let database = try server.makeDatabase()
        let key = OnionKey.generate()
        let address = key.address.description
        let settings = [
            "storage: {url: \"\(server.url(database))\"}", "onion: {public_address: \(address)}",
        ]
        let first = try await NodeTests.Stage(more: settings)
        var stages = [first]
        for _ in 0..<2 {
            stages.append(try await NodeTests.Stage(more: settings) { try $0.share(first.world) })
        }
        func divided(among count: Int) async throws {
            try await until {
                let parts = try server.shards(database)
                return parts.count == count && parts.reduce(0, +) == 256
                    && parts.allSatisfy { $0 <= (255 + count) / count }
            }
        }
        try await divided(among: 3)
        let own = try stages.map { try ownAddress(of: $0) }
        let file = first.world.directory.path + "/front-key"
        try LabDirectory.write(key.torsFile, to: file)
        let network = try await SharedTorNetwork.network()
        let front = try await LabFront.start(key: file, to: own, in: network)
        try await front.published(3)

        // By new circuits until all of these have taken something; gives the client. A directory may not have the last descriptor
        // yet when a client asks it, and a client keeps what it got: then it is another one's turn.
        var last = 0
        func meets(_ wanted: [NodeTests.Stage]) async throws -> Endpoint {
            for _ in 0..<3 {
                let client = try #require(try await network.startTor().socks)
                for _ in 0..<20 {
                    try await deliver(last + 1...last + 4, by: client, at: address)
                    last += 4
                    var met = 0
                    for stage in wanted where try await stored(by: stage) > 0 { met += 1 }
                    if met == wanted.count { return client }
                }
            }
            let said = front.program.lines.filter { $0.contains("intros from") || $0.contains("offline") }
            var counts: [Int] = []
            for stage in stages { counts.append(try await stored(by: stage)) }
            throw NotMet(description: "stored: \(counts)\n" + said.suffix(20).joined(separator: "\n"))
        }
        let client = try await meets(stages)

        // One is lost while something of its part waits there.
        let lost = stages[2]
        lost.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let peer = try await dial(address, by: client)
        let waiting = last + 1...last + 30
        for number in waiting { #expect(try await peer.send(request(number)).status == .stored) }
        peer.close()
        await lost.node.kill()
        last = waiting.upperBound + 10
        try await deliver(waiting.lowerBound...last, by: client, at: address)
        try await divided(among: 2)

        // It comes back, with other introduction points: who asks anew is led there too.
        lost.world.apple.faults = FaultScript()
        try await lost.startAgain()
        let said = front.program.lines.count
        try await divided(among: 3)
        try await front.published(3, anew: own[2], after: said)
        _ = try await meets([lost])
        try await deliver(last + 1...last + 10, by: client, at: address)

        let pushes = stages.flatMap(\.world.apple.book).reduce(into: [:]) {
            $0[$1.deviceToken, default: 0] += 1
        }
        #expect(pushes.count == last + 10 && pushes.values.allSatisfy { $0 == 1 })
        #expect(stages.allSatisfy { !$0.world.apple.book.isEmpty })
        await front.stop()
        for stage in stages { await stage.close() }
    }
}
