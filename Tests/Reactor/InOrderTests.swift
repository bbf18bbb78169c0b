import Reactor
import Testing

@EventLoop
@Suite struct InOrderTests {
    /// The first piece waits in its middle, and the second is asked for meanwhile.
    @Test func aPieceBeginsWhenTheOneBeforeItHasEnded() async throws {
        let order = InOrder()
        var steps: [String] = []
        var goOn: CheckedContinuation<Void, Never>?
        let first = Task {
            await order.run {
                steps.append("first begins")
                await withCheckedContinuation { goOn = $0 }
                steps.append("first ends")
            }
        }
        let second = Task {
            await order.run {
                steps.append("second")
                return 2
            }
        }
        try await EventLoop.until { goOn != nil }
        #expect(steps == ["first begins"])
        goOn?.resume()
        #expect(await second.value == 2)
        await first.value
        #expect(steps == ["first begins", "first ends", "second"])
    }
}
