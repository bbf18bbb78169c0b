import Foundation
import Reactor

extension Rows {
    /// How many instructions the node needs for a notification, by valgrind's count: the same to a thousandth from run to
    /// run, whatever else the machine does, where seconds differ by a fifth. The kernel's are not among them, nor are
    /// libcrypto's: valgrind has no SHA instructions, so that OpenSSL hashes there in a way that no machine takes.
    mutating func measureInstructions() async throws {
        let loads = [
            ("peers 10 x 64", ["peers", "--to", bench.peerEndpoint, "--peers", "10", "--window", "64"]),
            ("http POST /v1, 64 clients", ["http", "--to", bench.httpEndpoint, "--form", "post"]),
            ("http GET /relay, 64 clients", ["http", "--to", bench.httpEndpoint, "--form", "get"]),
            ("Web Push, 64 clients", ["http", "--to", bench.webPushEndpoint, "--form", "web-push"]),
        ]
        let goals: [(goal: Double?, bound: Double?)] = [
            (55_000, 65_000), (70_000, 85_000), (nil, nil), (nil, nil),
        ]
        for ((name, load), (goal, bound)) in zip(loads, goals) {
            let count = 6_000
            let counted = try await bench.withNode(countingInto: "\(bench.directory.path)/callgrind") {
                node in
                _ = try await bench.load(load + ["--count", "1500"])
                try await node.countInstructions(true)
                _ = try await bench.load(load + ["--count", "\(count)"])
                // The commit that takes the last ones out of the outbox.
                try await Task.sleep(for: .seconds(1))
                try await node.countInstructions(false)
            }
            results.add(
                "instructions, \(name)", "a notif.", Double(counted) / Double(count), goal: goal, bound: bound
            )
        }
    }
}

extension Bench {
    /// As ``withNode(delay:streams:over:_:)``, under callgrind, which counts nothing until it is told to.
    ///
    /// - Returns: The instructions counted.
    func withNode(
        countingInto file: String, _ body: (NodeUnderTest) async throws -> Void
    ) async throws -> Int {
        // valgrind doesn't read the debug information of Swift's compiler.
        let program = "\(directory.path)/counted"
        _ = try await Child(["strip", "--strip-debug", "-o", program, node], core: .others).finish()
        let callgrind = [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=\(file)", program,
        ]
        try await withNode(startedBy: callgrind, body)
        return try Self.instructions(in: try String(contentsOfFile: file, encoding: .utf8))
    }

    /// The sum over all objects but libcrypto (valgrind's manual, "Callgrind Format Specification").
    private static func instructions(in text: String) throws -> Int {
        var names: [Substring: Substring] = [:]
        var isCounted = true
        var isCall = false
        var sum = 0
        for line in text.split(separator: "\n") {
            if let object = line.after("ob=") ?? line.after("cob=") {
                // `(3) /usr/lib/...` the first time, `(3)` later.
                let parts = object.split(separator: " ", maxSplits: 1)
                if parts.count == 2 { names[parts[0]] = parts[1] }
                if line.hasPrefix("ob=") { isCounted = names[parts[0]]?.contains("libcrypto") == false }
            } else if line.hasPrefix("calls=") {
                // The line that follows holds what the callee cost, which is counted with the callee.
                isCall = true
            } else if let first = line.first, first.isNumber || "+-*".contains(first) {
                if !isCall, isCounted, let cost = line.split(separator: " ").last.flatMap({ Int($0) }) {
                    sum += cost
                }
                isCall = false
            }
        }
        guard sum > 0 else { throw BenchError("callgrind has counted nothing") }
        return sum
    }
}

extension NodeUnderTest {
    func countInstructions(_ isOn: Bool) async throws {
        _ = try await Child(
            ["callgrind_control", "--instr=\(isOn ? "on" : "off")", "\(processID)"], core: .others
        ).finish()
    }
}

extension Substring {
    fileprivate func after(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}
