import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// Successors that can't start, and settings with which a start fails: the node is there all the same.
@EventLoop
@Suite(.serialized) struct RestartWayBackTests {
    private func restart(_ configuration: String) async throws -> CommandResult {
        try await Task.detached { try run([program, "restart", "--config", configuration]) }.value
    }

    /// A node's program in a folder of its own, beside which another one can be put in its place.
    private struct OwnProgram {
        let path: String
        private var kept: String { path + ".kept" }

        @EventLoop init(_ stage: LoopbackStage) throws {
            path = try stage.world.directory.make("bin") + "/onionbelld"
            try FileManager.default.copyItem(atPath: nodeProgram, toPath: path)
        }

        /// Puts a script in its place, or nothing.
        func replace(by script: String?) throws {
            try FileManager.default.moveItem(atPath: path, toPath: kept)
            guard let script else { return }
            try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o700)
        }

        func putBack() throws {
            unlink(path)
            try FileManager.default.moveItem(atPath: kept, toPath: path)
        }
    }

    private func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    // MARK: Programs

    @Test(arguments: [
        (nil, "No such file"), ("exit 0.", "Syntax"),
        ("echo 'onionbelld: unknown option --check-start' >&2; exit 64", "knows no restart in place"),
        ("kill -SEGV $$", "killed by signal 11"), ("echo 'no room' >&2; exit 1", "no room"),
    ])
    func aProgramThatDoesNotSayYesLeavesTheNodeAsItIs(script: String?, words: String) async throws {
        let stage = try LoopbackStage()
        let own = try OwnProgram(stage)
        try await stage.start(program: own.path)
        try own.replace(by: script)
        let result = try await restart(stage.configuration)
        #expect(result.status == 1 && result.errors.contains("the node goes on"), "\(result)")
        if words != "Syntax" { #expect(result.errors.contains(words), "\(result)") }
        #expect(stage.node.exit == nil && !stage.node.lines.contains { $0.contains("node.restarting") })
        #expect(try await stage.dial().send(request(1)).status == .stored)
        try own.putBack()
        let second = try await restart(stage.configuration)
        #expect(second.status == 0, "\(second)")
        await stage.close()
    }

    /// Somebody may take a port between the check and the start.
    @Test func whatOnlyTheStartFindsSendsTheNodeBack() async throws {
        let stage = try LoopbackStage()
        let own = try OwnProgram(stage)
        try await stage.start(program: own.path)
        let process = try #require(stage.node.processID)
        let other = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        let good = try read(stage.configuration)
        try write(
            good + "doors:\n  web_push: {listen: [\"\(other.endpoint)\"]}\n", to: stage.configuration)
        try own.replace(by: "[ \"$1\" = --check-start ] || exec \"$0.kept\" \"$@\"")
        let result = try await restart(stage.configuration)
        #expect(result.status == 1 && result.errors.contains("runs with those from before"), "\(result)")
        #expect(stage.node.exit == nil && stage.node.processID == process)
        #expect(try !stage.isWell("settings"))
        #expect(try await stage.dial().send(request(1)).status == .stored)

        try own.putBack()
        try write(good, to: stage.configuration)
        let second = try await restart(stage.configuration)
        #expect(second.status == 0, "\(second)")
        #expect(try stage.isWell("settings"))
        other.close()
        await stage.close()
    }

    /// A disk may hang, and the event loop with it, in a start that every check has passed.
    @Test func aStartThatHangsIsBegunAnewWithTheSettingsFromBefore() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        let disk = try TroubledDisk(stage.world.state + "/vapid", in: stage.world.directory.path)
        let all = try read(stage.configuration)
        var lines = all.split(separator: "\n", omittingEmptySubsequences: false)
        let app = try #require(lines.firstIndex { $0.contains("name: browsers") })
        lines.removeSubrange(app..<(app + 4))
        try write(lines.joined(separator: "\n"), to: stage.configuration)
        try await stage.start(environment: disk.environment)
        let process = try #require(stage.node.processID)

        // What the new settings need is written at the start.
        try disk.hang()
        try write(all, to: stage.configuration)
        let restarting = Task { try await restart(stage.configuration) }
        try await until { disk.isMet }
        // Whoever comes meanwhile waits.
        #expect(try await stage.dial().send(request(1)).status == .stored)
        let result = try await restarting.value
        #expect(result.status == 1 && result.errors.contains("was not over within 30 seconds"), "\(result)")
        #expect(stage.node.exit == nil && stage.node.processID == process)
        #expect(try !stage.isWell("settings"))

        try disk.mend()
        let second = try await restart(stage.configuration)
        #expect(second.status == 0, "\(second)")
        #expect(try stage.isWell("settings"))
        #expect(!stage.node.lines.contains { $0.contains("descriptors_unused") }, "\(stage.node.lines)")
        await stage.close()
    }

    // MARK: Files

    @Test(arguments: ["format", "credential", "tor", "peers"])
    func whatIsWrongBesideTheSettingsIsFoundBeforeTheNodeStops(what: String) async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let directory = stage.world.directory.path
        let words: String
        switch what {
        case "format":
            try ask(stage, "PRAGMA user_version = 9999")
            words = "storage: "
        case "credential":
            try FileManager.default.removeItem(atPath: directory + "/AuthKey.p8")
            words = "AuthKey.p8"
        case "tor":
            try write(
                try read(stage.configuration).replacing(
                    "mode: own", with: "mode: own\n  binary: /nonexistent/tor"),
                to: stage.configuration)
            words = "tor.binary: there is no program /nonexistent/tor"
        default:
            let peers = try stage.world.directory.make("state/peers")
            try write("nonsense\n", to: peers + "/bob.auth")
            words = "bob"
        }
        let result = try await restart(stage.configuration)
        #expect(result.status == 1 && result.errors.contains(words), "\(result)")
        #expect(stage.node.exit == nil && !stage.node.lines.contains { $0.contains("node.restarting") })
        #expect(try await stage.dial().send(request(1)).status == .stored)
        await stage.close()
    }

    private func ask(_ stage: LoopbackStage, _ sql: String) throws {
        let program =
            "import sqlite3, sys; s = sqlite3.connect(sys.argv[1]); s.execute(sys.argv[2]); s.commit()"
        let result = try run(
            ["/usr/bin/python3", "-c", program, stage.world.state + "/outbox.sqlite", sql])
        #expect(result.status == 0, "\(result)")
    }

    // MARK: The console's settings

    /// Writes settings as the console does.
    private func put(_ text: String, to stage: LoopbackStage) async throws -> Int {
        let socket = Endpoint.unix(path: stage.world.state + "/status")
        func call(_ method: String, _ body: JSON?) async throws -> (Int, JSON) {
            var bytes: [UInt8] = []
            if let body { bytes.append(json: body) }
            var call = HTTPRequest(method: method, path: "/api/v1/settings", body: bytes)
            if body != nil { call.fields.append("content-type", "application/json") }
            let answer = try await HTTPExchange.answer(
                to: call, host: "localhost", by: .direct(socket), deadline: theRun)
            return (answer.status, try JSON(answer.body))
        }
        let version = try #require(try await call("GET", nil).1["version"]?.string)
        return try await call("PUT", ["text": .string(text), "version": .string(version)]).0
    }

    private func endsWith(_ stage: LoopbackStage) async throws -> ChildExit? {
        let node = try LabNode(nodeProgram, configuration: stage.configuration)
        await node.wait { $0.exit != nil }
        return node.exit
    }

    @Test func settingsOfTheConsoleNeverEndTheNode() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let copy = stage.world.state + "/settings-that-ran"
        let good = try read(stage.configuration)
        try await until { (try? read(copy)) == good }
        let other = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        let bad = good + "doors:\n  web_push: {listen: [\"\(other.endpoint)\"]}\n"
        #expect(try await put(bad, to: stage) == 200)
        await stage.node.kill()

        // An ordinary start, twice: it tries again each time.
        for _ in 1...2 {
            try await stage.start()
            #expect(
                stage.node.lines.contains {
                    $0.contains("restart.went_back") && $0.contains("\(other.endpoint)")
                })
            #expect(try !stage.isWell("settings"))
            #expect(try read(stage.configuration) == bad && read(copy) == good)
            await stage.node.stop()
        }
        other.close()
        try await stage.start()
        #expect(try stage.isWell("settings"))
        try await until { (try? read(copy)) == bad }
        await stage.close()
    }

    @Test func settingsOfTheConsoleWithWhichAStartCrashedAreNotTriedAgainByItself() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let note = stage.world.state + "/settings-written"
        let good = try read(stage.configuration)
        try await until { (try? read(stage.world.state + "/settings-that-ran")) == good }
        let other = good + "# by the console\n"
        #expect(try await put(other, to: stage) == 200)
        await stage.node.kill()
        // As a start leaves it that was killed.
        try write(try read(note).replacing("\n", with: " tried\n"), to: note)
        for _ in 1...2 {
            try await stage.start()
            #expect(
                stage.node.lines.contains {
                    $0.contains("restart.went_back") && $0.contains("came to no end")
                })
            #expect(try !stage.isWell("settings"))
            await stage.node.kill()
        }
        try await stage.start()
        // Somebody asks for it.
        let result = try await restart(stage.configuration)
        #expect(result.status == 0, "\(result)")
        #expect(try stage.isWell("settings"))
        try await until { access(note, F_OK) != 0 }
        await stage.close()
    }

    @Test func settingsWrittenByHandEndIt() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let good = try read(stage.configuration)
        try await until { (try? read(stage.world.state + "/settings-that-ran")) == good }
        await stage.node.stop()
        try write(good + "no_such_key: 1\n", to: stage.configuration)
        #expect(try await endsWith(stage) == .exited(78))
        let other = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        try write(
            good + "doors:\n  web_push: {listen: [\"\(other.endpoint)\"]}\n", to: stage.configuration)
        #expect(try await endsWith(stage) == .exited(69))
        other.close()
        await stage.close()
    }

    // MARK: Who asks, and when

    @Test func twoWhoAskAtATimeBothHearThatItHasRestarted() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let process = stage.node.processID
        let configuration = stage.configuration
        async let first = restart(configuration)
        async let second = restart(configuration)
        for result in [try await first, try await second] {
            #expect(result.status == 0 && result.output.hasPrefix("restarted in place in "), "\(result)")
        }
        #expect(stage.node.exit == nil && stage.node.processID == process)
        #expect(try await stage.dial().send(request(1)).status == .stored)
        await stage.close()
    }

    /// Tor is gone, or hangs: it has nothing to hand on.
    @Test(arguments: [SIGKILL, SIGSTOP])
    func aRestartWithoutItsTorGetsAnotherOne(signal: Int32) async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let process = try #require(stage.node.processID)
        func children() throws -> [Int32] {
            try run(["pgrep", "-P", "\(process)"]).output.split(separator: "\n").compactMap { Int32($0) }
        }
        try await until { try children().count == 1 }
        let tor = try #require(try children().first)
        kill(tor, signal)
        let result = try await restart(stage.configuration)
        #expect(result.status == 0, "\(result)")
        try await until { try children().count == 1 && children() != [tor] }
        #expect(try await stage.dial().send(request(1)).status == .stored)
        await stage.close()
    }

    @Test func strangersOnTheMachineRestartNothing() async throws {
        let stage = try LoopbackStage {
            $0 + "console: {listen: [\"127.0.0.1:0\"]}\n"
        }
        try await stage.start()
        try await until { access(stage.world.state + "/console-link", F_OK) == 0 }
        let link = try read(stage.world.state + "/console-link")
        let place = try #require(link.split(separator: "/").dropFirst().first)
        let url = "http://\(place)/api/v1/restart"
        for header in ["Origin: http://\(place)", "X-Nothing: 1"] {
            let answer = try run([
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST", "-H", header, "-H",
                "content-type: application/json", "-d", "{}", url,
            ])
            #expect(["401", "403"].contains(answer.output), "\(answer)")
        }
        if geteuid() == 0 {
            let socket = stage.world.state + "/status"
            let answer = try run([
                "setpriv", "--reuid", "65534", "--clear-groups", "curl", "-s", "--unix-socket", socket, "-X",
                "POST",
                "http://localhost/api/v1/restart",
            ])
            #expect(answer.status == 7, "\(answer)")
        }
        #expect(!stage.node.lines.contains { $0.contains("node.restarting") })
        await stage.close()
    }
}
