/// Runs pieces of work that wait for others (`await`) one after the other, in the order in which they were asked for. What
/// such a piece has read before a wait is the same behind it, as far as only these pieces change it.
@EventLoop
package final class InOrder {
    private var last: Task<Void, Never>?

    package init() {}

    /// Returns when the work, and all that was asked for before it, is done. No piece asks for another one here: it would
    /// wait for itself.
    package func run<Value: Sendable>(_ work: @escaping @EventLoop () async -> Value) async -> Value {
        let before = last
        let own = Task {
            await before?.value
            return await work()
        }
        last = Task { _ = await own.value }
        return await own.value
    }
}
