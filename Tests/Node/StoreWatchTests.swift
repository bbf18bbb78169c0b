import Reactor
import Relay
import Testing

@testable import Node

@EventLoop
@Suite struct StoreWatchTests {
    /// Answers each look when the test says so.
    @EventLoop
    private final class Looks {
        typealias Found = (version: Int64, value: Int)
        private(set) var known: [Int64?] = []
        private var waiting: [CheckedContinuation<Found?, Never>] = []

        func read(_ known: Int64?) async -> Found? {
            self.known.append(known)
            return await withCheckedContinuation { waiting.append($0) }
        }

        func answer(_ index: Int, _ found: Found?) { waiting[index].resume(returning: found) }
    }

    /// Of two looks the one that was begun first is answered last, with what was there before.
    @Test func anEarlierLookPutsNothingOldBack() async throws {
        let looks = Looks()
        var seen: [Int] = []
        let making = Task {
            try await StoreWatch(initial: 0, every: .seconds(86_400)) { (known) throws(OutboxError) in
                await looks.read(known)
            } onFault: { _ in
            } onChange: {
                seen.append($0)
            }
        }
        try await EventLoop.until { looks.known.count == 1 }
        looks.answer(0, (1, 1))
        let watch = try await making.value
        let slow = Task { await watch.lookNow() }
        try await EventLoop.until { looks.known.count == 2 }
        let quick = Task { await watch.lookNow() }
        try await EventLoop.until { looks.known.count == 3 }
        looks.answer(2, (3, 3))
        await quick.value
        looks.answer(1, (2, 2))
        try await EventLoop.until { looks.known.count == 4 || seen.count > 1 }
        if looks.known.count == 4 { looks.answer(3, nil) }
        await slow.value
        #expect(watch.value == 3 && seen == [3])
        #expect(looks.known == [nil, 1, 1, 3])
        watch.stop()
    }
}
