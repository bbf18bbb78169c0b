import Foundation
import Reactor
import Testing

@testable import Node

/// A disk that does not answer.
@EventLoop
@Suite(.serialized) struct DiskWatchTests {
    @FileThread
    private static func hang(until end: DispatchSemaphore, begun: AsyncStream<Void>.Continuation) {
        begun.yield()
        end.wait()
    }

    /// The question is asked on the thread of files: while that hangs, the loop goes on, and the silence is counted.
    @Test func aFileSystemThatHangsHoldsUpNothing() async throws {
        let end = DispatchSemaphore(value: 0)
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let hanging = Task { await Self.hang(until: end, begun: continuation) }
        for await _ in begun { break }
        let disk = DiskWatch("/")
        disk.start()
        let silence = try #require(disk.silence)
        for _ in 0..<3 { await EventLoop.nextTurn() }
        #expect(disk.available == nil)
        #expect(try #require(disk.silence) > silence)
        end.signal()
        await hanging.value
        try await EventLoop.until { disk.available != nil }
        #expect(disk.silence == nil)
        disk.stop()
    }
}
