import Clocks

/// Whether a link to a host needs a connection, when it may open the next one, when whoever waits is told of room, and what is a
/// failure.
///
/// Facts come in as arguments; nothing here waits.
struct LinkDemand: Equatable, Sendable {
    /// Whether anything is taken: from the start to the stop.
    var isRunning = false
    var pace = OpeningPace()
    /// Whether something waits for a connection.
    private(set) var isWanted = false
    private var lacksRoom = true

    /// Whether nothing needs a connection.
    var isResting: Bool { !isWanted }

    /// Notes that somebody waits for room.
    ///
    /// - Parameter isOpening: Whether there is a connection that may get room, or the next one is waited for.
    /// - Returns: Whether ``needsConnection(hasUsable:)`` and ``takeNews(room:hasFault:)`` are to be asked at the end of the
    ///   turn: also of a connection that has room already, of which nothing else would tell.
    mutating func want(room: Int, isOpening: Bool) -> Bool {
        lacksRoom = true
        // Also while there is one: it may be about to end.
        isWanted = true
        return room > 0 || !isOpening
    }

    /// Notes that there is no need for a connection any more.
    mutating func rest() { isWanted = false }

    /// Whether a connection is to be opened; `hasUsable`: there is one that is open or being opened.
    func needsConnection(hasUsable: Bool) -> Bool { isRunning && isWanted && !hasUsable }

    /// Takes the news that there is room, or a fault, for those who wait.
    ///
    /// - Returns: Whether there are such news.
    mutating func takeNews(room: Int, hasFault: Bool) -> Bool {
        if room > 0 { isWanted = false }
        guard lacksRoom, room > 0 || hasFault else { return false }
        lacksRoom = false
        return true
    }

    /// The meaning of a connection's end.
    enum End: Equatable {
        /// The connection was opened to see whether that can be done; the gateway closes what is not used.
        case looked
        case expected
        case failure
        /// The way out failed, on this side of the gateway.
        case cutOff
    }

    /// Notes that a connection has ended, or could not be opened.
    ///
    /// - Parameters:
    ///   - requests: The number of requests sent over it.
    ///   - isOurs: Whether we ended it, while it served or might have: that says nothing of the gateway.
    ///   - isCutOff: Whether the way out failed before the gateway was asked. The next one is waited for all the same.
    mutating func ended(
        _ life: ConnectionLife, requests: Int, isOurs: Bool, isCutOff: Bool = false, at time: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> End {
        if isResting, life.openedAt != nil, requests == 0 {
            pace.reset(at: time)
            return .looked
        }
        guard isRunning, !isOurs else { return .expected }
        let failures = pace.failures
        pace.ended(
            answers: life.answers, of: requests, openedAt: life.openedAt, at: time, using: &random)
        guard pace.failures > failures else { return .expected }
        return isCutOff ? .cutOff : .failure
    }
}
