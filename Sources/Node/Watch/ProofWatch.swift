import Clocks
import Dispatching
import Reactor

/// Has the store show that it works, where no notification has lately: a commit that changes nothing, every five minutes at
/// most.
@EventLoop
final class ProofWatch {
    private let dispatcher: Dispatcher
    private let timer = Timer()

    private static let interval: Duration = .seconds(60)
    /// The age of the last commit at which another one is made.
    private static let due: Duration = .seconds(300)

    init(_ dispatcher: Dispatcher) {
        self.dispatcher = dispatcher
        timer.action = { [unowned self] in look() }
    }

    func start() { look() }

    func stop() { timer.stop() }

    private func look() {
        let isDue = dispatcher.commitFigures.last.map { EventLoop.awake - $0 >= ProofWatch.due } ?? true
        if isDue { dispatcher.prove() }
        timer.start(after: ProofWatch.interval)
    }
}
