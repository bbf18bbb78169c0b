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
        for (name, load) in loads {
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
            let row = "instructions, \(name)"
            let all = counted.values.reduce(0, +)
            results.add(row, "a notif.", Double(all) / Double(count))
            for part in ["counted", "libnghttp2", "libc", "libsqlite3"] {
                let share = counted[part, default: 0]
                results.add(
                    "\(row), of it \(part == "counted" ? "the program" : part)", "a notif.",
                    Double(share) / Double(count))
            }
        }
    }
}

extension Bench {
    /// As ``withNode(delay:streams:over:_:)``, under callgrind, which counts nothing until it is told to.
    ///
    /// - Returns: The instructions counted, by the library's name; the program's is `counted`.
    func withNode(
        countingInto file: String, _ body: (NodeUnderTest) async throws -> Void
    ) async throws -> [String: Int] {
        // valgrind doesn't read the debug information of Swift's compiler.
        let program = "\(directory.path)/counted"
        _ = try await Child(["strip", "--strip-debug", "-o", program, node], core: .others).finish()
        let callgrind = [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=\(file)", program,
        ]
        // It is slow there: what would be stored late only for that would count.
        try await withNode(writeBehind: 2, startedBy: callgrind, body)
        return try Self.instructions(in: try String(contentsOfFile: file, encoding: .utf8))
    }

    /// Of all objects but libcrypto (valgrind's manual, "Callgrind Format Specification").
    private static func instructions(in text: String) throws -> [String: Int] {
        var names: [Substring: String] = [:]
        var object: String?
        var isCall = false
        var sums: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            if let part = line.after("ob=") ?? line.after("cob=") {
                // `(3) /usr/lib/x86_64-linux-gnu/libc.so.6` the first time, `(3)` later.
                let parts = part.split(separator: " ", maxSplits: 1)
                if parts.count == 2 {
                    let file = parts[1].split(separator: "/").last ?? ""
                    names[parts[0]] = String(file.prefix { $0 != "." })
                }
                if line.hasPrefix("ob=") { object = names[parts[0]] }
            } else if line.hasPrefix("calls=") {
                // The line that follows holds what the callee cost, which is counted with the callee.
                isCall = true
            } else if let first = line.first, first.isNumber || "+-*".contains(first) {
                if !isCall, let object, object != "libcrypto",
                    let cost = line.split(separator: " ").last.flatMap({ Int($0) })
                {
                    sums[object, default: 0] += cost
                }
                isCall = false
            }
        }
        guard !sums.isEmpty else { throw BenchError("callgrind has counted nothing") }
        return sums
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
