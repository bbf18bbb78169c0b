import Encodings
import Lab
import Reactor
import Wire

/// The books of one node with two upstreams: what it has promised, and what each of them was asked.
@EventLoop
final class UpstreamBooks {
    /// A push that an upstream has, or may have.
    private struct Push {
        let upstream: Int
        let connection: Int
        let at: Int64
        /// Whether its phone rings.
        var isTaken: Bool
        /// Whether the node was told so.
        var isAnswered: Bool
    }

    private struct Entry {
        let platform: Platform
        /// Whether something was wrong with it, which is told once.
        var isViolated = false
        var pushes: [Push] = []
        var isTaken: Bool { pushes.contains(where: \.isTaken) }

        /// Notes that the last push was not answered, if that is this one, which the upstream has taken.
        ///
        /// - Returns: Whether it is.
        mutating func leaveUnanswered(_ push: SimulatedRelay.Push, at upstream: Int) -> Bool {
            guard let last = pushes.last, last.upstream == upstream, last.connection == push.connection,
                push.at.nanoseconds - last.at < 1_000_000
            else { return false }
            pushes[pushes.count - 1].isAnswered = false
            return true
        }
    }

    /// A time in which an answer may not have reached the node, or the node not its disk; `upstream` is `nil` for both.
    private struct Excuse {
        let upstream: Int?
        let from: Int64
        let until: Int64
    }

    private var entries: [String: Entry] = [:]
    private var excuses: [Excuse] = []
    /// Promised, and neither taken by an upstream nor given up.
    private(set) var open: Set<String> = []
    private(set) var violations: [String] = []
    private(set) var promised = 0
    /// The upstream that was asked last, by the platform of the phone.
    private(set) var lastAsked: [Platform: Int] = [:]
    /// The time in nanoseconds for which a request or its answer may be on its way.
    private static let onItsWay: Int64 = 5_000_000_000

    // MARK: What happens

    func sending(_ message: String, to platform: Platform) { entries[message] = Entry(platform: platform) }

    func promise(_ message: String) {
        promised += 1
        if entries[message]?.isTaken == false { open.insert(message) }
    }

    func taken(_ push: SimulatedRelay.Push, at upstream: Int) {
        open.remove(push.message)
        add(push, at: upstream, isTaken: true)
    }

    /// Notes a push that met with a fault: whether the upstream surely has nothing is said by the answer.
    func met(_ fault: RelayFault, _ push: SimulatedRelay.Push, at upstream: Int) {
        if case .answer(let status, _, _) = fault, status == 503 || (400..<500).contains(status) {
            lastAsked[entries[push.message]?.platform ?? .android] = upstream
            return
        }
        let isKnown = entries[push.message]?.leaveUnanswered(push, at: upstream) ?? false
        if !isKnown { add(push, at: upstream, isTaken: false) }
    }

    private func add(_ push: SimulatedRelay.Push, at upstream: Int, isTaken: Bool) {
        guard let entry = entries[push.message] else {
            violations.append("upstream \(upstream + 1) was asked for what nobody has sent")
            return
        }
        lastAsked[entry.platform] = upstream
        entries[push.message]?.pushes.append(
            Push(
                upstream: upstream, connection: push.connection, at: push.at.nanoseconds, isTaken: isTaken,
                isAnswered: isTaken))
    }

    func hasAsked(_ upstream: Int, for message: String) -> Bool {
        entries[message]?.pushes.contains { $0.upstream == upstream } ?? false
    }

    func isTaken(_ message: String, by upstream: Int) -> Bool {
        entries[message]?.pushes.contains { $0.upstream == upstream && $0.isTaken } ?? false
    }

    /// Notes that answers given until now, or to what is on its way now, may not have reached the node; `nil`: of both
    /// upstreams.
    func isUnclear(_ upstream: Int?, since time: Int64 = EventLoop.now.nanoseconds) {
        excuses.append(
            Excuse(
                upstream: upstream, from: time - UpstreamBooks.onItsWay,
                until: EventLoop.now.nanoseconds + UpstreamBooks.onItsWay))
    }

    // MARK: Judgement

    func violate(_ words: String) { violations.append(words) }

    /// The platforms of those that wait, each with their number.
    var openWords: String {
        let counts = Dictionary(grouping: open) { entries[$0]?.platform ?? .android }.mapValues(\.count)
        return counts.map { "\($0.value) for \($0.key)" }.sorted().joined(separator: ", ")
    }

    /// Gives up what has not come in time.
    func giveUp() { open = [] }

    /// How often an upstream was asked again.
    var repetitions: Int { entries.values.reduce(0) { $0 + max(0, $1.pushes.count - 1) } }

    /// Looks at all that was asked so far.
    func check() {
        for (message, entry) in entries where !entry.isViolated {
            guard let words = fault(of: entry) else { continue }
            entries[message]?.isViolated = true
            violations.append("\(entry.platform): \(words)")
        }
    }

    private func fault(of entry: Entry) -> String? {
        if Set(entry.pushes.map(\.upstream)).count > 1 {
            let words = entry.pushes.map {
                "\($0.upstream + 1)\($0.isTaken ? "" : " untaken")\($0.isAnswered ? "" : " unanswered")"
            }
            return "both upstreams were asked for what one may have: \(words.joined(separator: ", "))"
        }
        for (earlier, later) in zip(entry.pushes, entry.pushes.dropFirst())
        where earlier.isAnswered && !isExcused(earlier) {
            return
                "upstream \(earlier.upstream + 1) was asked again \((later.at - earlier.at).seconds) s after it had answered"
        }
        return nil
    }

    private func isExcused(_ push: Push) -> Bool {
        excuses.contains { excuse in
            (excuse.upstream == nil || excuse.upstream == push.upstream)
                && (excuse.from...excuse.until).contains(push.at)
        }
    }
}
