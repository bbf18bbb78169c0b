import Synchronization
import Testing

@testable import Reactor

@EventLoop
@Suite struct StreamLifetimeTests {
    final class Receiver: StreamHandler {
        private(set) var received: [UInt8] = []
        private(set) var hasEnded = false

        func stream(_ stream: Stream, received bytes: RawSpan) {
            bytes.withUnsafeBytes { received += Array($0) }
        }

        func stream(_ stream: Stream, ended end: StreamEnd) { hasEnded = true }
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
    @Test
    func streamsLetGoOnAnotherThreadHarmNoOther() async throws {
        for number in 1...20 as ClosedRange<UInt8> {
            #expect(try await exchange(number, afterLettingGo: try heldPair()) == [number])
        }
    }

    private func heldPair() throws -> Holder {
        let (one, other) = try Stream.pair()
        return Holder([one, other])
    }

    /// What comes through a pair that is made after others were let go.
    private func exchange(_ byte: UInt8, afterLettingGo holder: Holder) async throws -> [UInt8] {
        Task.detached { holder.letGo() }
        // The loop does nothing else meanwhile, so that what the other thread leaves to it comes after the new pair.
        while !holder.isEmpty.load(ordering: .acquiring) {}
        let (sender, target) = try Stream.pair()
        let receiver = Receiver()
        target.handler = receiver
        await EventLoop.nextTurn()
        sender.write([byte])
        try await EventLoop.until { !receiver.received.isEmpty || receiver.hasEnded }
        sender.close()
        target.close()
        return receiver.received
    }
}
