import Foundation
import Lab
import Reactor
import Testing

/// The built program on a machine that sleeps, as its clocks tell it.
@EventLoop
@Suite(.timeLimit(.minutes(3))) struct SleptTests {
    /// Clocks of a machine that has slept for as many seconds as a file has bytes: the wall clock and the one that counts
    /// sleep are later, and the one by which timers run is not.
    private static let clocks = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>

        int clock_gettime(clockid_t clock, struct timespec *now) {
            struct stat file;
            int code = syscall(SYS_clock_gettime, clock, now);
            if (code == 0 && (clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME) && !stat(getenv("SLEPT"), &file))
                now->tv_sec += file.st_size;
            return code;
        }
        """

    private func metrics(_ stage: LoopbackStage) throws -> String {
        let socket = stage.world.directory.path + "/management"
        return try run(["curl", "-s", "--unix-socket", socket, "http://localhost/metrics"]).output
    }

    /// Google wants the phone spared for ten minutes, the machine sleeps for two hours, and the notification had one.
    @Test func whatLapsesWhileTheMachineSleepsEndsUnsent() async throws {
        let stage = try LoopbackStage()
        let (path, library) = (
            stage.world.directory.path + "/slept", stage.world.directory.path + "/clocks.so"
        )
        try LabDirectory.write(Array(Self.clocks.utf8), to: library + ".c")
        let compiled = try run(["cc", "-shared", "-fPIC", "-o", library, library + ".c"])
        try #require(compiled.status == 0, "\(compiled.errors)")
        stage.world.google.faults = FaultScript([
            FaultRule(.answer(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "600"))
        ])
        let environment = ProcessInfo.processInfo.environment.merging([
            "LD_PRELOAD": library, "SLEPT": path,
        ]) { $1 }
        try await stage.start(environment: environment.map { "\($0)=\($1)" })
        let peer = try await stage.dial()
        var short = request(1, platform: .android)
        short.expiresAt = EventLoop.unixMilliseconds + 3_600_000
        #expect(try await peer.send(short).status == .stored)
        let lasting = request(2, platform: .android)
        #expect(try await peer.send(lasting).status == .stored)
        for _ in 0..<240 where stage.world.google.figures.requests < 2 {
            try await Task.sleep(for: .milliseconds(250))
        }
        stage.world.google.faults = FaultScript([])
        #expect(stage.world.google.book.isEmpty)
        // The machine sleeps, and nobody else does.
        stage.world.google.clockOffset = .seconds(7200)
        try LabDirectory.write([UInt8](repeating: 0, count: 7200), to: path)
        let ended = "outcome=\"expired\",reason=\"Expired\"} 1\n"
        for _ in 0..<240 where try !metrics(stage).contains(ended) || stage.world.google.book.isEmpty {
            try await Task.sleep(for: .milliseconds(250))
        }
        #expect(try metrics(stage).contains(ended))
        #expect(stage.world.google.book.map(\.deviceToken) == [lasting.deviceToken])
        await stage.close()
    }
}
