import Foundation
import Glibc
import Lab
import Reactor
import Testing
import Vectors

/// `onionbell lab --nodes 3 --postgresql`, as somebody would watch it.
@EventLoop
@Suite struct LabNodesTests {
    private func processes(of lab: LabProgram) -> [String: Int32] {
        lab.lines.reduce(into: [:]) { found, line in
            let words = line.split(separator: " ")
            guard words.count > 3, words[1...2] == ["is", "process"] else { return }
            found[String(words[0])] = Int32(words[3])
        }
    }

    @Test func theShardsOfAKilledNodeGoToTheOthersUntilItIsBack() async throws {
        let directory = try LabDirectory()
        let lab = try LabProgram([
            program, "lab", directory.path + "/lab", "--nodes", "3", "--postgresql",
        ])
        await lab.wait { $0.exit != nil || $0.lines.contains("ready") }
        let started = lab.lines
        try #require(lab.exit == nil, "\(started)")
        func sent(_ name: String) -> Int {
            lab.lines.count { $0.hasPrefix("12 notifications sent to \(name) over Tor: all delivered") }
        }
        for name in ["node-1", "node-2", "node-3"] { #expect(sent(name) == 1) }
        #expect(lab.lines.count { $0.hasPrefix("Apple accepted") } == 36)
        #expect(lab.lines.count { $0.contains(" 86 of 256 shards") } >= 2)

        let first = processes(of: lab)
        try #require(first.count == 3, "\(started)")
        kill(try #require(first["node-2"]), SIGKILL)
        await lab.wait { lab in
            lab.exit != nil || lab.lines.count { $0.hasPrefix("node-2 is process") } == 2
        }
        let lines = lab.lines
        #expect(lines.contains { $0.hasPrefix("node-2 has ended (killed by signal 9)") })
        #expect(lines.contains { $0.hasPrefix("node-1 has 128 of 256 shards, and knows 2") })
        #expect(lines.contains { $0.hasPrefix("node-3 has 128 of 256 shards, and knows 2") })
        #expect(sent("node-1") == 2)
        let second = processes(of: lab)
        #expect(second["node-1"] == first["node-1"] && second["node-2"] != first["node-2"])

        // What it says is to be typed.
        let words = try #require(lines.first { $0.hasPrefix("  onionbell status") }).split(separator: " ")
        let status = try await Task.detached { try run([program] + words.dropFirst().map(String.init)) }.value
        #expect(status.status == 0 && status.output.contains("senders find the onion address"), "\(status)")

        let host = try #require(lines.first { $0.hasPrefix("storage.url: ") }?.split(separator: "=").last)
        let file = try String(contentsOfFile: "\(host)/data/postmaster.pid", encoding: .utf8)
        let server = try #require(file.split(separator: "\n").first.flatMap { Int32($0) })
        #expect(kill(server, 0) == 0)
        #expect(await lab.stop() == .exited(0))
        for process in Array(second.values) + [server] { #expect(kill(process, 0) == -1) }
        let node = String(try #require(words.last)).replacing("/node-1/onionbell.yaml", with: "")
        for path in [String(host), node] { #expect(!FileManager.default.fileExists(atPath: path)) }
        await directory.remove()
    }

    @Test(
        .enabled(if: LabFront.isInstalled, "onionbalance is not installed: Deploy/tools/dependencies test"),
        .enabled(if: isLong, "only in Deploy/test --long; FrontTests has the short form"))
    func oneAddressLeadsToAllNodesAndOutlivesOne() async throws {
        let directory = try LabDirectory()
        let lab = try LabProgram([
            program, "lab", directory.path + "/lab", "--nodes", "2", "--postgresql", "--onionbalance",
        ])
        await lab.wait { $0.exit != nil || $0.lines.contains("ready") }
        let started = lab.lines
        try #require(lab.exit == nil, "\(started)")
        let published = try #require(started.first { $0.hasPrefix("onionbalance has published ") })
        let address = published.split(separator: " ")[3].dropLast()
        func sent() -> Int {
            lab.lines.count { $0.hasPrefix("12 notifications sent to \(address) over Tor: all delivered") }
        }
        #expect(address.hasSuffix(".onion") && sent() == 2)
        // Each has one of its own behind it.
        #expect(!started.contains { $0.contains(" is process ") && $0.contains(address) })

        kill(try #require(processes(of: lab)["node-1"]), SIGKILL)
        await lab.wait { lab in
            lab.exit != nil || lab.lines.contains { $0.hasPrefix("node-1 is started again") }
        }
        #expect(sent() == 3, "\(lab.lines.suffix(8))")
        #expect(await lab.stop() == .exited(0))
        await directory.remove()
    }

    @Test(arguments: [
        (["--onionbalance"], "add --nodes"), (["--nodes", "3"], "add --postgresql"),
        (["--nodes", "10", "--postgresql"], "1 to 9"),
    ])
    func nodesThatCannotShareAreRefused(options: [String], words: String) throws {
        let result = try run([program, "lab", "/tmp/never-made"] + options)
        #expect(result.status == 64 && result.errors.contains(words), "\(result)")
    }
}
