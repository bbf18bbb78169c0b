import Outbound
import Reactor

/// Has gateways see at the start, one after the other, whether their services can be reached: the operator learns of what is
/// wrong before the first notification comes, and no service sees many connections at once.
@EventLoop
final class GatewayLooks {
    private var waiting: ArraySlice<any Gateway>
    private let patience = Timer()

    /// The time after which the next gateway looks while the one before has not come to an end: a host that does not answer
    /// holds up nobody.
    private static let longest: Duration = .seconds(3)

    init(_ gateways: [any Gateway]) {
        waiting = gateways[...]
        patience.action = { [unowned self] in next() }
    }

    func start() { next() }

    func stop() {
        waiting = []
        patience.stop()
    }

    private func next() {
        guard let gateway = waiting.popFirst() else { return patience.stop() }
        patience.start(after: GatewayLooks.longest)
        let left = waiting.count
        gateway.look { [weak self] in
            // Its turn may be over.
            guard let self, waiting.count == left else { return }
            patience.start(after: .zero)
        }
    }
}
