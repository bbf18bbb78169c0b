import Foundation
import Reactor

/// A device token that tells a gateway on the same machine when its request was due, and of which load it is.
///
/// 32 digits that are no other's, 16 with a mark and the load's number, 16 of monotonic nanoseconds.
enum TimedToken {
    private static let mark: UInt64 = 0xB0B0_B0B0 << 32

    static func token(_ number: UInt64, load: UInt32, at time: Int64) -> String {
        deviceToken(number).prefix(32) + digits(mark | UInt64(load)) + digits(UInt64(time))
    }

    private static func digits(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// - Returns: `nil`: a token of another kind.
    static func read(_ token: String) -> (load: UInt32, time: Int64)? {
        guard token.utf8.count == 64, let marked = UInt64(token.dropFirst(32).prefix(16), radix: 16),
            marked >> 32 == mark >> 32, let time = Int64(token.suffix(16), radix: 16)
        else { return nil }
        return (UInt32(truncatingIfNeeded: marked), time)
    }
}

/// How long pushes with ``TimedToken`` took to the gateway, by their load.
@EventLoop
final class TimedPushes {
    private var counters: [UInt32: LatencyCounter] = [:]
    private var changed: Set<UInt32> = []

    nonisolated init() {}

    func saw(_ token: String) {
        guard let (load, time) = TimedToken.read(token) else { return }
        counters[load, default: LatencyCounter()].record(nanoseconds: EventLoop.now.nanoseconds - time)
        changed.insert(load)
    }

    /// Brings what is new into files of a directory, one for each load.
    func write(to directory: String) throws {
        for load in changed {
            guard let latency = counters[load]?.latency else { continue }
            try JSONEncoder().encode(latency).write(
                to: URL(fileURLWithPath: Self.file(load, in: directory)), options: .atomic)
        }
        changed = []
    }

    static func latency(of load: UInt32, in directory: String) throws -> Latency {
        try JSONDecoder().decode(
            Latency.self, from: try Data(contentsOf: URL(fileURLWithPath: file(load, in: directory))))
    }

    private static func file(_ load: UInt32, in directory: String) -> String { "\(directory)/timed-\(load)" }
}
