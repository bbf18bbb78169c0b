import Synchronization
import Testing

@testable import Reactor

@EventLoop
@Suite struct StreamLifetimeTests {
    final class Receiver: StreamHandler {
        var received: CheckedContinuation<Void, Never>?

        func stream(_ stream: Stream, received bytes: RawSpan) {
            received?.resume()
            received = nil
        }

        func stream(_ stream: Stream, ended end: StreamEnd) {}
    }

    /// Holds streams, and lets go of them on whatever thread it is told.
    final class Holder: Sendable {
        private let streams: Mutex<[Stream]>
        let isEmpty = Atomic(false)

        init(_ streams: [Stream]) { self.streams = Mutex(streams) }

        func letGo() {
            streams.withLock { $0 = [] }
            isEmpty.store(true, ordering: .releasing)
        }
    }

    /// The kernel gives the descriptors of streams that were let go to the next ones at once.
    @Test(.timeLimit(.minutes(1)))
    func streamsLetGoOnAnotherThreadHarmNoOther() async throws {
        for _ in 0..<20 {
            try await exchangeAfter(lettingGo: try heldPair())
        }
    }

    private func heldPair() throws -> Holder {
        let (one, other) = try Stream.pair()
        return Holder([one, other])
    }

    private func exchangeAfter(lettingGo holder: Holder) async throws {
        Task.detached { holder.letGo() }
        // The loop does nothing else meanwhile, so that what the other thread leaves to it comes after the new pair.
        while !holder.isEmpty.load(ordering: .acquiring) {}
        let (sender, target) = try Stream.pair()
        let receiver = Receiver()
        target.handler = receiver
        await Task.yield()
        await withCheckedContinuation { continuation in
            receiver.received = continuation
            sender.write([1])
        }
        sender.close()
        target.close()
    }
}
