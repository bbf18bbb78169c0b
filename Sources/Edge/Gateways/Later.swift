import Reactor

/// Calls at the end of the loop's turn, in the order given: for completions that are known before a call returns.
@EventLoop
final class Later {
    private var actions: [@EventLoop () -> Void] = []
    private let endOfTurn = EndOfTurn()

    init() {
        endOfTurn.action = { [unowned self] in
            let due = actions
            actions = []
            for action in due { action() }
        }
    }

    func callAsFunction(_ action: @escaping @EventLoop () -> Void) {
        actions.append(action)
        endOfTurn.schedule()
    }
}
