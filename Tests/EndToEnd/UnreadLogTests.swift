import Glibc
import Lab
import Reactor
import Testing

/// What hangs beside the node does not hang the node.
@EventLoop
@Suite struct UnreadLogTests {
    /// Standard error is a pipe that is full from the start and that nobody reads, as behind a log shipper that hangs.
    @Test func aNodeAnswersWhileNobodyReadsItsLog() async throws {
        let stage = try LoopbackStage()
        let errors = stage.world.directory.path + "/errors"
        try #require(mkfifo(errors, 0o600) == 0)
        let pipe = open(errors, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        defer { close(pipe) }
        let noise = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        while write(pipe, noise, noise.count) > 0 {}
        let node = try LabProgram([
            "/bin/sh", "-c", #"exec "$0" run --config "$1" 2> "$2""#, program, stage.configuration, errors,
        ])
        func ask(_ path: String, _ more: [String] = []) throws -> String {
            let socket = ["--unix-socket", stage.world.directory.path + "/management"]
            return try run(
                ["curl", "-s"] + socket + more + ["http://localhost" + path]
            ).output
        }
        // Until it listens.
        let patience = ["--retry", "40", "--retry-all-errors", "--retry-delay", "1"]
        try #require(try ask("/metrics", patience).contains("\nonionbell_loop_lag_seconds "))
        for _ in 0..<3 { #expect(try ask("/healthz").contains("\"loop\":{\"ok\":true")) }
        #expect(await node.stop() == .exited(0))
        await stage.world.close()
    }
}
