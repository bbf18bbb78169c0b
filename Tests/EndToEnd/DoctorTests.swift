import Encodings
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Wire

/// `onionbell doctor` and `onionbell watch` beside a running node, and without one.
@EventLoop
@Suite(.serialized) struct DoctorTests {
    /// Verdicts by check; the worst where a check has several.
    private func examine(_ configuration: String, _ options: String...) async throws -> (
        status: Int32, verdicts: [String: String], words: String
    ) {
        let result = try await command(["doctor", "--json", "--config", configuration] + options)
        var verdicts: [String: String] = [:]
        let findings = try #require(try JSON(Array(result.output.utf8)).array)
        for finding in findings {
            let check = try #require(finding["check"]?.string)
            let verdict = try #require(finding["verdict"]?.string)
            if verdicts[check] != "fail" { verdicts[check] = verdict }
        }
        return (result.status, verdicts, result.output)
    }

    /// Not on the event loop, which the simulators need.
    nonisolated private func command(_ arguments: [String]) async throws -> CommandResult {
        try await Task.detached { try run([program] + arguments) }.value
    }

    @Test func beforeANodeInATorNetworkAllIsGreen() async throws {
        let stage = try await NodeTests.Stage()
        let seen = try await examine(stage.configuration)
        #expect(seen.status == 0, "\(seen.words)")
        // How many files a process may open is this machine's.
        // Of a node that has just started not everything is known yet.
        #expect(Set(seen.verdicts.filter { !["limits", "node"].contains($0.key) }.values) == ["pass"])
        #expect(seen.verdicts["node"] == "pass" || seen.words.contains("the node has just been started"))
        for check in [
            "configuration", "credentials", "permissions", "disk", "tor", "tor.network",
            "tor.clock",
            "onion.descriptor", "onion.dial", "onion.http", "bisq-remote-ios.name", "bisq-remote-ios.tls",
            "bisq-remote-ios.credentials", "bisq-remote-ios.sandbox.credentials",
            "bisq-remote-android.credentials",
        ] {
            #expect(seen.verdicts[check] == "pass", "\(check)")
        }
        for platform in ["iOS", "iOSDev", "android"] {
            let watched = try await command([
                "watch", "--to", stage.address, "--platform", platform, "--socks", "\(stage.socks)",
            ])
            #expect(watched.status == 0, "\(watched.output)")
            #expect(watched.output.hasPrefix("well: "))
        }
        await stage.close()
        let gone = try await command([
            "watch", "--to", stage.address, "--socks", "\(stage.socks)", "--timeout", "5s",
        ])
        #expect(gone.status == 69)
    }

    @Test func aStoppedNodeIsToldAndItsPortsAreTried() async throws {
        let world = try LabWorld()
        let socket = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        let page = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        let configuration = try world.configure(
            tor: ["mode: own", "binary: /nowhere/tor"],
            more: [
                "onion: {peer_listen: \"\(socket.endpoint)\"}", "console: {listen: [\"\(page.endpoint)\"]}",
            ])
        let seen = try await examine(configuration)
        #expect(seen.status == 1)
        #expect(seen.verdicts["node"] == "warn")
        #expect(seen.verdicts["ports"] == "fail")
        #expect(seen.words.contains("onion.peer_listen: ") && seen.words.contains("console.listen: "))
        #expect(seen.verdicts["tor"] == "fail")
        #expect(seen.verdicts["bisq-remote-ios.credentials"] == "pass")
        socket.close()
        page.close()
        await world.close()
    }

    /// It is no matter of firewalls and clocks.
    @Test func aMistakeInTheTorrcIsToldWithItsOption() async throws {
        let world = try LabWorld()
        let torrc = world.directory.path + "/torrc"
        try LabDirectory.write(Array("NoSuchOption 1\n".utf8), to: torrc)
        let seen = try await examine(try world.configure(tor: ["mode: own", "torrc: \(torrc)"]))
        #expect(seen.verdicts["tor"] == "fail" && seen.verdicts["tor.network"] == nil, "\(seen.words)")
        #expect(seen.words.contains("NoSuchOption") && seen.words.contains("correct that in torrc"))
        await world.close()
    }

    /// A tor that others use as well tells no circuits.
    @Test func whatASharedTorMeansForClientsIsTold() async throws {
        let world = try LabWorld()
        let configuration = try world.configure(
            tor: ["mode: system", "control: \"unix:\(world.directory.path)/nobody\""])
        let seen = try await examine(configuration)
        #expect(seen.verdicts["circuits"] == "warn")
        #expect(seen.words.contains("share what 16 circuits may use"))
        await world.close()
    }

    @Test func everyFaultOfAConfigurationIsAFinding() async throws {
        let world = try LabWorld()
        let configuration = try world.configure(tor: ["mode: other"], more: ["colour: red"])
        let seen = try await examine(configuration)
        #expect(seen.status == 1)
        #expect(seen.verdicts == ["configuration": "fail"])
        #expect(seen.words.contains("colour: unknown key"))
        await world.close()
    }

    @Test func credentialsForAllToReadAndAWrongTopicAreTold() async throws {
        let stage = try LoopbackStage { $0.replacing("topic: \(LabWorld.topic)", with: "topic: other.app") }
        try await stage.start()
        chmod(stage.world.directory.path + "/AuthKey.p8", 0o644)
        // No tor of its own: the address was never published.
        let seen = try await examine(stage.configuration, "--socks", "127.0.0.1:1")
        #expect(seen.status == 1)
        #expect(seen.verdicts["permissions"] == "fail")
        #expect(seen.verdicts["bisq-remote-ios.credentials"] == "fail")
        #expect(seen.words.contains("TopicDisallowed"))
        #expect(seen.verdicts["bisq-connect-ios.credentials"] == "pass")
        // There is no network for its tor, but it has just started.
        #expect(seen.words.contains(#""verdict":"warn","words":"onion: "#))
        await stage.close()
    }

    /// Each kind of secret alone: whoever reads gorush's pushes to every phone.
    @Test func aSecretOfAnEndpointForAllToReadIsTold() async throws {
        let world = try LabWorld()
        let secret = world.directory.path + "/gorush-secret"
        try LabDirectory.write(Array("open sesame\n".utf8), to: secret)
        let configuration = try world.configure(
            tor: ["mode: own", "binary: /nowhere/tor"],
            more: [
                "doors: {gorush: {listen: [\"onion:8088\"], secret_file: gorush-secret, apps: [bisq-remote-ios]}}"
            ])
        for (mode, verdict) in [(0o600, "pass"), (0o644, "fail")] as [(mode_t, String)] {
            chmod(secret, mode)
            let seen = try await examine(configuration)
            #expect(seen.verdicts["permissions"] == verdict, "\(seen.words)")
            #expect(seen.words.contains("gorush-secret can be read by every user") == (verdict == "fail"))
        }
        await world.close()
    }

    /// Everybody may push there, as the operator wanted it: the command, the log and doctor say so.
    @Test func anEndpointThatIsOpenToAllIsTold() async throws {
        let stage = try LoopbackStage {
            $0 + "\ndoors: {gorush: {listen: [\"onion:8088\"], open: true, apps: [bisq-remote-ios]}}\n"
        }
        let words = "doors.gorush at onion:8088 has no secret: everybody can push through it"
        let checked = try await command(["check-config", "--config", stage.configuration])
        #expect(checked.status == 0 && checked.output.contains(words), "\(checked)")
        try await stage.start()
        await stage.logged("endpoint.unprotected")
        #expect(stage.node.lines.contains { $0.contains("endpoint.unprotected") })
        // No tor of its own: the address was never published.
        let seen = try await examine(stage.configuration, "--socks", "127.0.0.1:1")
        #expect(seen.verdicts["endpoints"] == "warn" && seen.words.contains(words), "\(seen.words)")
        await stage.close()
    }

    @Test func whatAWatchIsToldDoesNotMakeTheNodeDoubtItsConfiguration() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        // More than it takes to be suspicious of wrong hosts, topics and projects.
        for number in 0..<25 {
            let peer = try await stage.dial()
            for token in [
                (Platform.ios, "6f6e696f6e62656c6c2077617463683a206e6f20737563682064657669636521"),
                (.android, "onionbell-watch:no-such-device:0"),
            ] {
                var request = request(number, platform: token.0, awaitsOutcome: true)
                request.uid += "\(token.0)"
                request.deviceToken = token.1
                #expect(try await peer.send(request).status == .stored)
                #expect(try await peer.nextResponse(to: request.uid).status == .refused)
            }
            peer.close()
        }
        #expect(try stage.isWell("bisq-remote-ios"))
        #expect(try stage.isWell("bisq-remote-android"))
        await stage.close()
    }
}
