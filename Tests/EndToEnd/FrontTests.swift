import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Tor
import Wire

/// A real onionbalance before real nodes, in the private Tor network.
@EventLoop
@Suite(.serialized, .timeLimit(.minutes(5))) struct FrontTests {
    /// Onionbalance's own code, with waits that suit a test. It wants eight directories for each descriptor; here are fewer
    /// relays, which all get it. Directories take no descriptor of an address with a lower number than the one they have,
    /// and tor and onionbalance both number by the time, but by different random steps: so it is a while later here.
    private static let onionbalance = """
        from onionbalance.hs_v3 import params
        params.INITIAL_CALLBACK_DELAY = 1
        params.FETCH_DESCRIPTOR_FREQUENCY = 3
        params.PUBLISH_DESCRIPTOR_CHECK_FREQUENCY = 1
        params.FRONTEND_DESCRIPTOR_LIFETIME = 10
        params.INSTANCE_DESCRIPTOR_TOO_OLD = 15
        from onionbalance.hs_v3 import hashring
        from onionbalance.hs_v3.onionbalance import my_onionbalance
        hashring.get_responsible_hsdirs = lambda *of: list(my_onionbalance.consensus.get_routerstatuses())
        from onionbalance.hs_v3.descriptor import OBDescriptor
        number = OBDescriptor._get_revision_counter
        OBDescriptor._get_revision_counter = lambda *of: number(*of) + 7200 * 32768
        from onionbalance.manager import main
        main()
        """

    nonisolated private static let isInstalled = FileManager.default.fileExists(
        atPath: "/usr/lib/python3/dist-packages/onionbalance/__init__.py")

    private func command(_ stage: NodeTests.Stage, _ words: String...) throws -> CommandResult {
        try run([program] + words + ["--config", stage.configuration])
    }

    private func ownAddress(of stage: NodeTests.Stage) throws -> String {
        let shown = try command(stage, "key", "show")
        return String(try #require(shown.output.split(separator: "\n").first, "\(shown)"))
    }

    /// Onionbalance under a tor of its own.
    private func balance(
        _ instances: [String], key: String, in directory: LabDirectory
    ) async throws -> (program: LabProgram, tor: LabTor) {
        let tor = try await SharedTorNetwork.network().startTor()
        let file = directory.path + "/onionbalance.yaml"
        let lines = ["services:", "- key: \(key)", "  instances:"] + instances.map { "  - address: \($0)" }
        try LabDirectory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: file)
        let program = try LabProgram([
            "/usr/bin/python3", "-c", Self.onionbalance, "-s", tor.dataDirectory + "/control", "-c", file,
            "-v",
            "info",
        ])
        return (program, tor)
    }

    private func dial(_ address: String, by socks: Endpoint) async throws -> BisqPeer {
        try await BisqPeer.dial(
            .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(10),
            deadline: .seconds(90))
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

    private func front(of stage: NodeTests.Stage) async throws -> JSON? {
        let socket = stage.world.directory.path + "/management"
        return try await Task.detached { try health(over: socket)["checks"]?["front"] }.value
    }

    @Test(.enabled(if: isInstalled, "onionbalance is not installed: Deploy/dependencies test"))
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

        let (onionbalance, tor) = try await balance(own, key: key, in: first.world.directory)
        // A client keeps a descriptor as long as its introduction points answer: so it looks for one when both nodes are in it.
        await onionbalance.wait { program in
            let words = [
                "intros from 2 instances", "Uploading first descriptor", "Uploading second descriptor",
            ]
            let missing = program.lines.reduce(words[...]) { left, line in
                left.first.map(line.contains) == true ? left.dropFirst() : left
            }
            return missing.isEmpty || program.exit != nil
        }
        let client = try #require(try await SharedTorNetwork.network().startTor().socks)
        // By new circuits until both were met.
        var met: Set<Int> = []
        var number = 2
        while met.count < 2, number < 40 {
            met.insert(try await isDelivered(number, by: client, at: address, to: stages))
            number += 1
        }
        #expect(met == [0, 1], "\(onionbalance.lines.suffix(10))")
        // The nodes call it too, whichever of them answers.
        for stage in stages {
            let end = ContinuousClock.now + .seconds(60)
            while try await front(of: stage)?["state"]?.string?.contains("clients use answered") != true {
                try #require(ContinuousClock.now < end, "\(stage.node.lines.suffix(5))")
                try await Task.sleep(for: .milliseconds(200))
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
        let start = try run([nodeProgram, "--config", second.configuration], limit: 60)
        #expect(start.status == 78 && (start.output + start.errors).contains("onion.public_address"))

        await onionbalance.kill()
        await tor.kill()
        await first.close()
        await second.close()
    }
}
