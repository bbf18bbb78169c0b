import Foundation
import Lab
import Processes
import Reactor
import Testing

/// What clients cost an https endpoint that only begin connections, of an RSA key as the dearest that is usual.
@EventLoop
@Suite(.serialized) struct HandshakeFloodTests {
    /// Three clients, each with an address of its own, that greet and go so many times, one connection after the other.
    private nonisolated static let clients = """
        import socket, ssl, sys, threading, time
        port, begun = int(sys.argv[1]), time.monotonic()
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        counts = [0, 0]
        def pour(number):
            for _ in range(int(sys.argv[2])):
                counts[0] += 1
                try:
                    with socket.create_connection(("127.0.0.1", port), 5, ("127.0.0.%d" % number, 0)) as plain:
                        with context.wrap_socket(plain):
                            counts[1] += 1
                except OSError:
                    pass
        threads = [threading.Thread(target=pour, args=(number,)) for number in (1, 2, 3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(*counts, time.monotonic() - begun)
        """

    private struct Cost: CustomStringConvertible {
        var attempts: Int
        var handshakes: Int
        /// In seconds.
        var time: Double
        /// Of the node's processor time.
        var used: Duration

        var description: String {
            "\(attempts) connections, \(handshakes) handshakes in \(time) s, \(used) of CPU"
        }
    }

    private func measure(_ limits: String) async throws -> Cost {
        let port = try freePort()
        let stage = try LoopbackStage {
            $0 + """

                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem\(limits)}
                  web_push: {listen: ["https://127.0.0.1:\(port)"], ios: bisq-remote-ios}

                """
        }
        let directory = stage.world.directory.path
        let made = try run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days",
            "9",
            "-keyout", directory + "/server-key.pem", "-out", directory + "/server.pem",
        ])
        try #require(made.status == 0, "\(made.errors)")
        try await stage.start()
        let before = try #require(stage.node.processorTime)
        let result = try await Task.detached {
            try run(["/usr/bin/python3", "-c", Self.clients, "\(port)", "150"])
        }
        .value
        let used = try #require(stage.node.processorTime) - before
        let figures = result.output.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
        try #require(figures.count == 3, "\(result)")
        await stage.close()
        return Cost(
            attempts: Int(figures[0]), handshakes: Int(figures[1]), time: figures[2], used: used)
    }

    @Test func theRateBoundsWhatHandshakesCost() async throws {
        let unbounded = try await measure(", handshakes: 100000, handshakes_per_address: 100000")
        let bounded = try await measure("")
        print("without a rate: \(unbounded)\nwith the usual one: \(bounded)")
        #expect(unbounded.handshakes == unbounded.attempts)
        // Fifty at once of each of three addresses, and ten a second each from then on, however slow the machine is.
        #expect(Double(bounded.handshakes) <= 3 * (50 + 10 * bounded.time) + 3)
        #expect(bounded.handshakes < bounded.attempts || bounded.time > 9)
    }
}
