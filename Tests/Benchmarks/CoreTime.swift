import Glibc
import Lab
import Reactor

/// The time of the benchmark's two cores: what they were idle, and what of the rest was the benchmark's own.
///
/// The kernel measures idle time, and samples what is spent otherwise: whatever wakes with its clock counts too much there.
struct CoreTime {
    /// Seconds of both cores. Those that the host of a virtual machine takes are not among them.
    let idle: Double
    /// Seconds of this process and of whatever it has started.
    let own: Double
    /// Seconds of the wall clock.
    let at: Double

    /// The largest share of the two cores that other work may have; beyond it a row starves.
    static let mostOfOthers = 0.05

    static var now: CoreTime {
        get throws {
            CoreTime(
                idle: idleSeconds(in: String(decoding: try LabDirectory.read("/proc/stat"), as: UTF8.self)),
                own: try familySeconds(of: getpid()), at: Double(EventLoop.now.nanoseconds) / 1e9)
        }
    }

    /// - Parameter text: `/proc/stat` (proc(5)).
    static func idleSeconds(in text: String) -> Double {
        text.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count > 5, words[0] == "cpu0" || words[0] == "cpu1" else { return sum }
            // Behind user, nice and system: idle, and idle with a disk at work.
            let ticks = (Double(words[4]) ?? 0) + (Double(words[5]) ?? 0)
            return sum + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    /// The share of both cores that other work had since then, from 0 to 1.
    func others(since earlier: CoreTime) -> Double {
        let seconds = 2 * (at - earlier.at)
        return max(0, seconds - (idle - earlier.idle) - (own - earlier.own)) / seconds
    }
}
