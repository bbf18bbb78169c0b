import Client
import Clocks
import Foundation
import HTTP1
import Lab
import Reactor

/// What a node costs that has many apps, each at both of Apple's hosts.
extension Rows {
    /// Before anything is sent: what a start takes, and what is open then.
    mutating func measureStartWithApps() async throws {
        let apps = 100
        try await bench.withNode(apps: apps) { node in
            var most = 0
            for _ in 0..<50 {
                most = max(most, try connections(to: node.gateway.url))
                try await Task.sleep(for: .milliseconds(100))
            }
            results.add("\(apps) apps, start", "ms", Double(node.start.nanoseconds) / 1e6)
            results.add(
                "\(apps) apps, PSS 5 s later", "MB", try proportionalMemory(of: node.processID) / 1000)
            results.add("\(apps) apps, connections at once", "", Double(most))
        }
    }

    /// What a page takes: of the event loop's time in all its turns together, of its longest turn, and until it is there.
    /// Another thread puts it together: the node has both cores.
    mutating func measurePagesWithApps() async throws {
        for apps in [10, 100, 400] {
            try await bench.withNode(apps: apps, on: .any) { node in
                for page in ["healthz", "metrics"] {
                    let times = 20
                    _ = try await ask(node, page)
                    let before = try node.figures
                    let begun = EventLoop.now
                    for _ in 0..<times { _ = try await ask(node, page) }
                    let passed = EventLoop.now - begun
                    let loop = (try node.figures.threads["loop"] ?? 0) - (before.threads["loop"] ?? 0)
                    let name = "\(apps) apps, /\(page)"
                    results.add("\(name), the loop's time", "ms", 1000 * loop / Double(times))
                    results.add("\(name), longest turn", "ms", try await longestTurn(of: node))
                    results.add("\(name), answer", "ms", Double(passed.nanoseconds) / 1e6 / Double(times))
                }
            }
        }
    }

    /// Returns what the node says of its last minute, in milliseconds, to within the 4 of the kernel's coarse clock.
    private func longestTurn(of node: NodeUnderTest) async throws -> Double {
        let metric = "onionbell_loop_longest_turn_seconds "
        let text = String(decoding: try await ask(node, "metrics").body, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(metric) }),
            let seconds = Double(line.dropFirst(metric.count))
        else { throw BenchError("no \(metric)") }
        return 1000 * seconds
    }

    private func ask(_ node: NodeUnderTest, _ page: String) async throws -> HTTPResponse {
        try await HTTPExchange.answer(
            to: HTTPRequest(method: "GET", path: "/\(page)", isKeptAlive: false), host: "localhost",
            by: .direct(.unix(path: "\(node.gateway.directory)/management")), longest: 16 << 20)
    }

    /// Counts the connections to a gateway that stand (proc_pid_net(5)).
    private func connections(to url: String) throws -> Int {
        guard let port = URL(string: url)?.port else { throw BenchError("no port in \(url)") }
        let end = String(format: ":%04X", port)
        let table = String(decoding: try LabDirectory.read("/proc/net/tcp"), as: UTF8.self)
        return table.split(separator: "\n").dropFirst().count {
            let words = $0.split(separator: " ")
            return words.count > 3 && words[2].hasSuffix(end) && words[3] == "01"
        }
    }

    /// Returns the KiB of a process, of which pages that others have too count in part.
    private func proportionalMemory(of process: Int32) throws -> Double {
        let text = String(decoding: try LabDirectory.read("/proc/\(process)/smaps_rollup"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        guard let value = line?.split(separator: " ").dropFirst().first.flatMap({ Double($0) }) else {
            throw BenchError("no memory of \(process)")
        }
        return value
    }
}
