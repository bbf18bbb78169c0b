import Glibc
import JSONCoding
import Overview
import Processes
import Reactor

/// A report for the makers of the node about a machine that they don't have: its kind, times and sizes.
///
/// There is no address, name, path or key in it, so that its owner can show it to anybody.
struct MachineReport {
    /// Below which the small files of the kernel are read.
    var root = ""

    /// The machine, its system and the program.
    var machine: [String] {
        var facts = utsname()
        uname(&facts)
        let kernel = withUnsafeBytes(of: &facts.release) { Self.text($0) }
        let processor = withUnsafeBytes(of: &facts.machine) { Self.text($0) }
        let model = line("/proc/device-tree/model") ?? line("/sys/class/dmi/id/product_name") ?? "unknown"
        let memory = value(of: "MemTotal:", in: "/proc/meminfo").map { Words.bytes($0 * 1024) } ?? "unknown"
        let system =
            lines("/etc/os-release").first { $0.hasPrefix("PRETTY_NAME=") }
            .map { $0.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" } } ?? "unknown"
        return [
            "program: onionbell \(programVersion), \(processor)",
            "machine: \(model), \(sysconf(CInt(_SC_NPROCESSORS_ONLN))) processors, \(memory) memory",
            "system: \(system), Linux \(kernel)",
        ]
    }

    /// Describes a running node by its `/status.json`, and the tor that it started.
    func node(_ process: pid_t, status: JSON) -> [String] {
        let figures = status["process"]
        let tor = children(of: process).compactMap { value(of: "VmRSS:", in: "/proc/\($0)/status") }.reduce(
            0, +)
        let commits = [("median", "commit_p50"), ("99 of 100", "commit_p99")].compactMap { word, key in
            time(status["outbox"]?[key]).map { "\(word) \($0)" }
        }
        return [
            "node: runs for \(time(status["uptime"]) ?? "?"), processor time "
                + "\(time(figures?["processor_time"]) ?? "?"), memory "
                + "\(figures?["memory"]?.integer.map { Words.bytes(Int($0)) } ?? "?"), "
                + "its tor's \(tor == 0 ? "not known" : Words.bytes(tor * 1024))",
            "commits: \(commits.isEmpty ? "none yet" : commits.joined(separator: ", "))",
            "loop: late by \(time(status["loop"]?["lag"]) ?? "?"), longest turn "
                + "\(time(status["loop"]?["longest_turn"]) ?? "?") within a minute",
            "tor: \(status["onion"]?["tor_version"]?.string ?? "not connected"), "
                + "bootstrap \(status["onion"]?["bootstrap"]?.integer.map { "\($0) %" } ?? "unknown")",
        ]
    }

    private func time(_ value: JSON?) -> String? {
        switch value {
        case .integer(let seconds): Words.latency(Int64(clamping: seconds) &* 1_000_000_000)
        case .number(let seconds) where (0..<1e9).contains(seconds): Words.latency(Int64(seconds * 1e9))
        default: nil
        }
    }

    private func children(of process: pid_t) -> [Int] {
        ((try? PrivateFile.names(in: root + "/proc")) ?? []).compactMap { Int($0) }.filter {
            value(of: "PPid:", in: "/proc/\($0)/status") == Int(process)
        }
    }

    private func value(of key: String, in path: String) -> Int? {
        lines(path).first { $0.hasPrefix(key) }?.dropFirst(key.utf8.count)
            .split { $0 == " " || $0 == "\t" }.first.flatMap { Int($0) }
    }

    private func line(_ path: String) -> String? {
        lines(path).first.map { String($0.filter { $0 != "\0" }) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func lines(_ path: String) -> [Substring] {
        guard let bytes = try? PrivateFile.read(root + path, limit: 65536) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
