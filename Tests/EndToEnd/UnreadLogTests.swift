import Foundation
import Reactor
import Testing

/// What hangs beside the node does not hang the node.
@EventLoop
@Suite(.timeLimit(.minutes(2))) struct UnreadLogTests {
    /// Standard error is a pipe that is full from the start and that nobody reads, as behind a log shipper that hangs.
    @Test func aNodeAnswersWhileNobodyReadsItsLog() async throws {
        let stage = try LoopbackStage()
        let errors = Pipe()
        let end = errors.fileHandleForWriting.fileDescriptor
        let flags = fcntl(end, F_GETFL)
        #expect(fcntl(end, F_SETFL, flags | O_NONBLOCK) == 0)
        let noise = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        while write(end, noise, noise.count) > 0 {}
        #expect(fcntl(end, F_SETFL, flags) == 0)
        let node = Process()
        node.executableURL = URL(filePath: program)
        node.arguments = ["run", "--config", stage.configuration]
        node.standardError = errors
        node.standardOutput = FileHandle.nullDevice
        try node.run()
        func ask(_ path: String, _ more: [String] = []) throws -> String {
            let socket = ["--unix-socket", stage.world.directory.path + "/management"]
            return try run(
                ["curl", "-s", "--max-time", "5"] + socket + more + ["http://localhost" + path]
            ).output
        }
        // Until it listens.
        let patience = ["--retry", "40", "--retry-all-errors", "--retry-delay", "1"]
        try #require(try ask("/metrics", patience).contains("\nonionbell_loop_lag_seconds "))
        for _ in 0..<3 { #expect(try ask("/healthz").contains("\"loop\":{\"ok\":true")) }
        node.terminate()
        node.waitUntilExit()
        #expect(node.terminationStatus == 0)
        await stage.world.close()
    }
}
