import Foundation

/// What the kernel has counted of a running process (proc(5)).
struct ProcessFigures {
    /// Seconds of all its threads, living and ended.
    let user: Double
    let system: Double
    /// Seconds, exact to the nanosecond, of its living threads by their name.
    let threads: [String: Double]
    /// KiB of memory resident now, and at most so far.
    let resident: Double
    let longestResident: Double
    /// Bytes that it made the disk's (not those for pipes and sockets).
    let written: Double
    /// How often its living threads have gone to sleep of their own accord.
    let sleeps: Int

    var cpu: Double { user + system }

    /// Seconds that its threads have worked since, exact. What a thread did that has ended meanwhile is not in it.
    func threadTime(since earlier: ProcessFigures) -> Double {
        threads.reduce(0) { $0 + max(0, $1.value - (earlier.threads[$1.key] ?? 0)) }
    }

    init(of process: Int32) throws {
        let directory = "/proc/\(process)"
        let stat = try text("\(directory)/stat")
        // The name, in parentheses, may hold anything.
        guard let end = stat.lastIndex(of: ")") else { throw BenchError("\(directory)/stat can't be read") }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchError("\(directory)/stat can't be read")
        }
        self.user = user / ticks
        self.system = system / ticks
        let status = try text("\(directory)/status")
        resident = Self.value("VmRSS", in: status)
        longestResident = Self.value("VmHWM", in: status)
        written = Self.value("write_bytes", in: try text("\(directory)/io"))
        var threads: [String: Double] = [:]
        var sleeps = 0
        for task in try FileManager.default.contentsOfDirectory(atPath: "\(directory)/task") {
            guard let schedule = try? text("\(directory)/task/\(task)/schedstat"),
                let name = try? text("\(directory)/task/\(task)/comm"),
                let nanoseconds = schedule.split(separator: " ").first.flatMap({ Double($0) })
            else { continue }
            threads[name.trimmingCharacters(in: .whitespacesAndNewlines), default: 0] += nanoseconds / 1e9
            let status = try? text("\(directory)/task/\(task)/status")
            sleeps += Int(Self.value("voluntary_ctxt_switches", in: status ?? ""))
        }
        self.threads = threads
        self.sleeps = sleeps
    }

    private static func value(_ key: String, in status: String) -> Double {
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0
    }
}

/// Seconds of a process and its children, those that have ended too.
func familySeconds(of process: Int32) throws -> Double {
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    var seconds = 0.0
    for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
        guard let number = Int32(entry), let stat = try? text("/proc/\(entry)/stat"),
            let end = stat.lastIndex(of: ")")
        else { continue }
        let fields = stat[stat.index(after: end)...].split(separator: " ").compactMap { Double($0) }
        // Behind the state, which is no number: the parent is the first; of itself the 11th and 12th, of its children the next.
        guard fields.count > 14, number == process || fields[0] == Double(process) else { continue }
        seconds += fields[10..<(number == process ? 14 : 12)].reduce(0, +) / ticks
    }
    return seconds
}

private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
}

/// User and system seconds of this process or of its ended children.
func cpuSeconds(_ who: __rusage_who) -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(who.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
        $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
}
