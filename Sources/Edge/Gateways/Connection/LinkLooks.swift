import Reactor

/// The calls that wait to hear whether a host can be reached, and the time for which a connection is looked at.
///
/// Apple refuses a certificate a moment after the connection stands: so long it is looked at.
@EventLoop
final class LinkLooks {
    /// Called when a connection has stood for that moment.
    var onEnd: @EventLoop () -> Void = {}

    private var ends: [@EventLoop () -> Void] = []
    private let timer = Timer()
    private static let moment: Duration = .milliseconds(250)

    init() {
        timer.action = { [unowned self] in
            onEnd()
            end()
        }
    }

    func begin(_ end: @escaping @EventLoop () -> Void) { ends.append(end) }

    /// Notes that a connection stands.
    func reached() {
        if !ends.isEmpty, !timer.isRunning { timer.start(after: LinkLooks.moment) }
    }

    /// Notes that a connection has failed or was closed.
    func end() {
        timer.stop()
        let ended = ends
        ends = []
        for end in ended { end() }
    }
}
