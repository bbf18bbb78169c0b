import Lab
import Reactor

/// What happens to an app's two upstreams in one round.
enum UpstreamBlow: String, CaseIterable {
    case killed = "one killed with requests unanswered"
    case bothKilled = "both killed, the second with a request, the first back first"
    case deaf = "one takes no connection"
    case silent = "one accepts and says nothing"
    case unavailable = "one answers 429 or 503"
    case broken = "one answers 500 or 502"
    case proxy = "a proxy's page in the place of one"
    case otherForm = "one takes requests in another form"
    case tor = "one's tor stopped"
    case slow = "one refuses a phone, the other is reached after 8 s"
    case node = "the node killed with requests unanswered"
    case inPlace = "the node restarted in place with requests unanswered"
    case burst = "a burst of one platform, single ones of the others"

    /// The blows of a run, each kind as often as the others, in an order that the seed makes.
    static func plan(_ rounds: Int, of blows: [UpstreamBlow], using random: inout SplitMix) -> [UpstreamBlow]
    {
        var plan: [UpstreamBlow] = []
        while plan.count < rounds { plan += blows.shuffled(using: &random) }
        return Array(plan.prefix(rounds))
    }
}

/// The longest that a notification may wait, by the node's own times: those of `RelayGateway.limits`, `OpeningPace`,
/// `RelayPace` and `RetryPolicy`.
enum UpstreamBound {
    /// A dial that comes to nothing.
    private static let dial: Duration = .seconds(60)
    /// A request that is not answered.
    private static let answer: Duration = .seconds(60)
    /// The pause between two dials, and the first for which an upstream is set aside.
    private static let pause: Duration = .seconds(60)
    /// The back-off of what has failed seven times. No blow lasts for longer.
    private static let backOff: Duration = .seconds(64)
    /// What a burst waits for, at 20 a second.
    private static let pace: Duration = .seconds(10)

    /// Nothing is wrong.
    static let quiet = dial + pace
    /// One upstream takes nothing, or did before, and the other is well: a dial to each, or a pause and a dial.
    static let other = dial + dial
    /// The last blow is over.
    static let after = answer + backOff + pause + dial
    /// Both upstreams were away, and the first is well again.
    static let back = pause + pause + dial

    static var text: String {
        """
        - \(quiet.components.seconds) s while nothing is wrong: a dial (60 s), and a burst at 20 a second;
        - \(other.components.seconds) s while one upstream surely takes nothing, or did before: a dial to each;
        - \(after.components.seconds) s once the blow is over: a request without an answer (60 s), the back-off of what \
        has failed seven times (64 s), the pause between two dials (60 s), a dial.
        """
    }
}

/// The rounds that are still to come, and what those that are over took. Shared by all nodes.
@EventLoop
final class UpstreamPlan {
    private var blows: ArraySlice<UpstreamBlow>
    private let count: Int
    private var times: [UpstreamBlow: [Int64]] = [:]
    private var failed: [UpstreamBlow: Int] = [:]

    init(_ rounds: Int, of blows: [UpstreamBlow], seed: UInt64) {
        var random = SplitMix(seed: seed)
        self.blows = UpstreamBlow.plan(rounds, of: blows, using: &random)[...]
        count = rounds
    }

    func next() -> (number: Int, UpstreamBlow)? { blows.popFirst().map { (count - blows.count, $0) } }

    /// Notes a round that is over.
    ///
    /// - Parameter time: Nanoseconds from the end of the blow until all had come; `nil`: something had not in time, or came
    ///   where it must not.
    func ended(_ blow: UpstreamBlow, after time: Int64?) {
        if let time { times[blow, default: []].append(time) } else { failed[blow, default: 0] += 1 }
    }

    var table: [String] {
        var rows = [["two upstreams", "rounds", "violated", "all there after, median", "longest"]]
        for blow in UpstreamBlow.allCases {
            let (own, failed) = (times[blow] ?? [], failed[blow] ?? 0)
            guard own.count + failed > 0 else { continue }
            rows.append(
                [blow.rawValue, "\(own.count + failed)", "\(failed)"] + Table.medianAndLongest(own))
        }
        return Table.lines(rows)
    }
}
