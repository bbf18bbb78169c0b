import Clocks
import Figures
import Relay

/// The pause that a gateway asks for when it wants nothing for a while, and how often the log hears of it.
struct WishedPause: Equatable, Sendable {
    /// The longest pause that was asked for, as long as the gateway has taken nothing since.
    private(set) var wish: GatewayFigures.Wish?
    private var toldAt: MonotonicTime?

    /// The time between two lines of the log.
    static let interval: Duration = .seconds(600)

    /// Notes the pause that a gateway asks for.
    ///
    /// - Returns: The seconds of the pause, where it is to be logged.
    mutating func asked(_ deferral: Deferral, at time: MonotonicTime) -> Int64? {
        guard deferral.scope != .device, let pause = deferral.retryAfter, pause > .zero else { return nil }
        let until = time + pause
        if until > wish?.until ?? 0 {
            wish = GatewayFigures.Wish(reason: deferral.reason, until: until)
        }
        if let toldAt, time - toldAt < WishedPause.interval { return nil }
        toldAt = time
        return pause.components.seconds
    }

    mutating func accepted() { if wish != nil { wish = nil } }
}
