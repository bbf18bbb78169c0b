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

/// Seconds of a process and of all below it, those that have ended too.
func familySeconds(of process: Int32) throws -> Double {
    var seconds: [Int32: Double] = [:]
    var children: [Int32: [Int32]] = [:]
    for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
        guard let number = Int32(entry), let stat = try? text("/proc/\(entry)/stat"),
            let end = stat.lastIndex(of: ")")
        else { continue }
        // Behind the state, which is no number, the parent is the first; the 11th to 14th are its own times and those of its
        // ended children.
        let fields = stat[stat.index(after: end)...].split(separator: " ").compactMap { Double($0) }
        guard fields.count > 14 else { continue }
        seconds[number] = fields[10..<14].reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
        children[Int32(fields[0]), default: []].append(number)
    }
    var sum = 0.0
    var next = [process]
    while let process = next.popLast() {
        sum += seconds[process] ?? 0
        next += children[process] ?? []
    }
    return sum
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
