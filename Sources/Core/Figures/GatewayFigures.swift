import Clocks

/// The figures of a gateway that an operator may see: counters since the start of the process, and how it stands now.
package struct GatewayFigures: Equatable, Sendable {
    /// Connections now open or being opened.
    package var connections = 0
    package var connectionsOpened = 0
    /// Whether there is no connection because nothing waits for one.
    package var isResting = false
    /// Connections that ended soon after they were opened without having
    /// answered a request, or that were never opened.
    package var connectionFailures = 0
    /// GOAWAY frames by their word; `-` where there was none.
    package var goAways = WordCounts()
    /// Requests on their way.
    package var inFlight = 0
    package var requests = 0
    /// Requests that had no answer in time.
    package var timeouts = 0
    /// Answers that say we built a wrong request, by their word.
    package var ownFaults = WordCounts()
    /// The time from sending a request to its answer, of the requests that were answered.
    package var answerTime = Histogram()
    /// Why the last connection ended or could not be opened, if it was not in order.
    package var lastError: String?
    /// The gateway's last wish, as long as it has taken nothing since.
    package var wish: Wish?
    /// The fault that the operator must mend before anything can be delivered, in the service's word; `nil` when nothing is
    /// known to be wrong.
    package var fault: String?
    /// Device tokens refused in a row, with none accepted between them: many mean that the configured host, topic or
    /// project is wrong rather than the tokens.
    package var refusedTokensInARow = 0
    /// Whether a notification has been accepted since the start.
    package var hasAccepted = false
    /// Seconds since 1970 when the client certificate ends; `nil` where there is none.
    package var certificateEnd: Int64?

    /// The gateway wants nothing for a while.
    package struct Wish: Equatable, Sendable {
        /// The gateway's word for its wish.
        package var reason: String
        package var until: MonotonicTime

        package init(reason: String, until: MonotonicTime) {
            self.reason = reason
            self.until = until
        }
    }

    /// The number of refusals in a row from which on refused device tokens are taken for a wrong
    /// configuration.
    package static let suspiciousRefusals = 20
    /// The number of refused device tokens in a row up to which a refusal is the device's fault. More of them speak against
    /// the settings.
    private static let doubtfulRefusals = 3
    /// Whether a refused device token may be the fault of the settings. Before the first acceptance nobody knows.
    package var isInDoubt: Bool {
        !hasAccepted || refusedTokensInARow > GatewayFigures.doubtfulRefusals
    }
    package var isSuspicious: Bool { refusedTokensInARow >= GatewayFigures.suspiciousRefusals }

    package init() {}

    package mutating func add(_ other: GatewayFigures) {
        addCounts(of: other)
        connections += other.connections
        isResting = isResting && other.isResting
        inFlight += other.inFlight
        lastError = other.lastError ?? lastError
        fault = fault ?? other.fault
        wish = [wish, other.wish].compactMap(\.self).max { $0.until < $1.until }
        hasAccepted = hasAccepted || other.hasAccepted
        refusedTokensInARow = max(refusedTokensInARow, other.refusedTokensInARow)
        certificateEnd = [certificateEnd, other.certificateEnd].compactMap(\.self).min()
    }

    /// Adds the counters of another gateway, without how it stands.
    package mutating func addCounts(of other: GatewayFigures) {
        connectionsOpened += other.connectionsOpened
        connectionFailures += other.connectionFailures
        goAways.add(other.goAways)
        requests += other.requests
        timeouts += other.timeouts
        ownFaults.add(other.ownFaults)
        answerTime.add(other.answerTime)
    }
}
