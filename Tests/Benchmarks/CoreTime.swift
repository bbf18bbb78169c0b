import Glibc
import Lab
import Reactor

/// The work of the benchmark's two cores: all of it, and what of it is the benchmark's own.
struct CoreTime: Equatable {
    /// Seconds that both cores have worked, and those that the host has kept from them.
    let all: Double
    /// Seconds of this process and of whatever it has started.
    let own: Double
    /// Seconds of the wall clock.
    let at: Double

    /// The largest share of the two cores that other work may have; beyond it a row starves.
    static let mostOfOthers = 0.05

    static var now: CoreTime {
        get throws {
            CoreTime(
                all: workedSeconds(in: String(decoding: try LabDirectory.read("/proc/stat"), as: UTF8.self)),
                own: try familySeconds(of: getpid()), at: Double(EventLoop.monotonicNanoseconds) / 1e9)
        }
    }

    /// - Parameter text: `/proc/stat` (proc(5)).
    static func workedSeconds(in text: String) -> Double {
        text.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count > 8, words[0] == "cpu0" || words[0] == "cpu1" else { return sum }
            // user, nice, system, irq, softirq, steal; between them what is idle.
            let ticks = [1, 2, 3, 6, 7, 8].reduce(0) { $0 + (Double(words[$1]) ?? 0) }
            return sum + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    /// The share of both cores that other work had since then, from 0 to 1.
    func others(since earlier: CoreTime) -> Double {
        max(0, all - earlier.all - (own - earlier.own)) / (2 * (at - earlier.at))
    }
}
