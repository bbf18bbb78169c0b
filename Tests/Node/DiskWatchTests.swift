import Foundation
import Reactor
import Testing

@testable import Node

/// A disk that does not answer.
@EventLoop
@Suite(.serialized, .timeLimit(.minutes(1))) struct DiskWatchTests {
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
        for _ in 0..<20 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(disk.available == nil)
        #expect(try #require(disk.silence) > .milliseconds(100))
        end.signal()
        await hanging.value
        for _ in 0..<500 where disk.available == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(disk.available != nil && disk.silence == nil)
        disk.stop()
    }
}
