import Glibc
import Reactor
import Testing

@Suite struct EventLoopTests {
    @Test func wakeUpsFromManyThreadsAllArrive() async {
        @EventLoop final class Counter {
            var count = 0
            func add() { count += 1 }
        }
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { await counter.add() } }
            }
        }
        #expect(await counter.count == 8000)
    }

    @Test @EventLoop func timersFireInOrderAndNotAfterTheyAreStopped() async {
        var fired: [Int] = []
        var timers: [Timer] = []
        await withCheckedContinuation { continuation in
            for delay in [30, 10, 20] {
                let timer = Timer {
                    fired.append(delay)
                    if delay == 30 { continuation.resume() }
                }
                timer.start(after: .milliseconds(delay))
                timers.append(timer)
            }
            timers[2].stop()
        }
        #expect(fired == [10, 30])
    }

    @Test @EventLoop func theEndOfATurnComesOnceForAllThatTheTurnBrought() async {
        var calls = 0
        let end = EndOfTurn { calls += 1 }
        for _ in 0..<10 { end.schedule() }
        #expect(calls == 0)
        await EventLoop.nextTurn()
        #expect(calls == 1)
    }

    @Test @EventLoop func aSignalReachesItsSourceAndNoOther() async throws {
        var heard: [CInt] = []
        let sources = [SIGUSR1, SIGUSR2, SIGWINCH].map { number in
            SignalSource(number) { heard.append(number) }
        }
        for number in [SIGUSR2, SIGUSR1] {
            let before = heard.count
            kill(getpid(), number)
            try await EventLoop.until { heard.count > before }
        }
        #expect(heard == [SIGUSR2, SIGUSR1])
        _ = sources
    }

    /// What holds for one event only is seen, though others have ended it before whoever waits goes on.
    @Test @EventLoop func whoWaitsForAMomentDoesNotMissIt() async throws {
        var count = 0
        let timers = (0..<3).map { _ in Timer { count += 1 } }
        for timer in timers { timer.start(after: .milliseconds(1)) }
        try await EventLoop.until { count == 2 }
        try await EventLoop.until { count == 3 }
    }

    @Test @EventLoop func whoWaitsInVainEndsWithItsTask() async throws {
        let waiting = Task { try await EventLoop.until { false } }
        await EventLoop.nextTurn()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}

@EventLoop
@Suite struct ChildProcessTests {
    @Test func linesAndChildExitArriveInOrder() async throws {
        var lines: [String] = []
        var child: ChildProcess?
        let status = try await ending { onExit in
            child = try ChildProcess(
                ["sh", "-c", "echo one; echo two >&2; printf three; exit 7"], onLine: { lines.append($0) },
                onExit: onExit)
        }
        #expect(status == .exited(7))
        #expect(lines == ["one", "two", "three"])
        _ = child
    }

    @Test func aSignalEndsAChild() async throws {
        var child: ChildProcess?
        let status = try await ending { onExit in
            child = try ChildProcess(["sleep", "1000"], onExit: onExit)
            child?.signal(SIGTERM)
        }
        #expect(status == .signalled(SIGTERM))
    }

    @Test func aMissingProgramIsAnErrorAtOnce() {
        #expect(throws: SystemError("start /no/such/program", code: ENOENT)) {
            try ChildProcess(["/no/such/program"], onExit: { _ in })
        }
    }

    @Test func aChildThatIsLetGoIsKilled() throws {
        var child: ChildProcess? = try ChildProcess(["sleep", "1000"], onExit: { _ in })
        let processID = try #require(child?.processID)
        child = nil
        #expect(kill(processID, 0) == -1)
    }

    private func ending(_ start: (@escaping @EventLoop (ChildExit) -> Void) throws -> Void) async throws
        -> ChildExit
    {
        let (stream, continuation) = AsyncStream.makeStream(of: ChildExit.self)
        try start { continuation.yield($0) }
        for await status in stream { return status }
        return .exited(-1)
    }
}
