import Relay

/// Which of several upstreams is asked: the first in the operator's order that is not set aside. One that is comes
/// back after a while, once a connection to it stands.
///
/// Times are monotonic nanoseconds.
struct UpstreamOrder: Equatable, Sendable {
    static let firstPause: Duration = .seconds(60)
    static let longestPause: Duration = .seconds(600)

    private struct Place: Equatable, Sendable {
        /// `nil`: it is not set aside.
        var awayUntil: Int64?
        /// It is being called.
        var isTried = false
        /// In a row.
        var failures = 0
    }

    private var places: [Place]
    private let firstPause: Duration

    init(count: Int, firstPause: Duration = UpstreamOrder.firstPause) {
        precondition(count > 0, "no upstream")
        places = Array(repeating: Place(), count: count)
        self.firstPause = firstPause
    }

    /// There always is one.
    var active: Int { places.firstIndex { $0.awayUntil == nil } ?? 0 }

    func isAside(_ index: Int) -> Bool { places[index].awayUntil != nil }

    /// It surely takes nothing now.
    ///
    /// - Returns: Whether there is another one to ask. If not, it stays.
    mutating func setAside(_ index: Int, for asked: Duration? = nil, at time: Int64) -> Bool {
        let isOther = places.indices.contains { $0 != index && places[$0].awayUntil == nil }
        guard isOther else { return false }
        let asked = min(asked ?? .zero, .seconds(86400)).nanoseconds
        if let until = places[index].awayUntil, !places[index].isTried {
            // What else was on its way there fails as well, which is no further failure.
            places[index].awayUntil = max(until, time + asked)
            return true
        }
        let own = firstPause.nanoseconds << Int64(min(places[index].failures, 10))
        let pause = max(min(own, UpstreamOrder.longestPause.nanoseconds), asked)
        places[index].failures += 1
        places[index].isTried = false
        places[index].awayUntil = time + pause
        return true
    }

    /// Those that are to be called now, each once.
    mutating func takeDue(at time: Int64) -> [Int] {
        places.indices.filter { index in
            guard !places[index].isTried, let until = places[index].awayUntil, until <= time else {
                return false
            }
            places[index].isTried = true
            return true
        }
    }

    /// A connection to it stands.
    mutating func connected(_ index: Int) {
        guard places[index].isTried else { return }
        places[index].awayUntil = nil
        places[index].isTried = false
    }

    mutating func accepted(_ index: Int) { places[index].failures = 0 }

    /// When one of them is to be called next.
    var wakeAt: Int64? { places.lazy.filter { !$0.isTried }.compactMap(\.awayUntil).min() }
}
