import Foundation
import Lab
import Programs
import Reactor
import Testing

/// What clients cost an https endpoint that only begin connections, of an RSA key as the dearest that is usual.
@EventLoop
@Suite(.serialized, .timeLimit(.minutes(3))) struct HandshakeFloodTests {
    /// Three clients, each with an address of its own, that greet and go, one connection after the other.
    private nonisolated static let clients = """
        import socket, ssl, sys, threading, time
        port, end = int(sys.argv[1]), time.time() + float(sys.argv[2])
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        counts = [0, 0]
        def pour(number):
            while time.time() < end:
                counts[0] += 1
                try:
                    with socket.create_connection(("127.0.0.1", port), 5, ("127.0.0.%d" % number, 0)) as plain:
                        with context.wrap_socket(plain):
                            counts[1] += 1
                except OSError:
                    time.sleep(0.01)
        threads = [threading.Thread(target=pour, args=(number,)) for number in (1, 2, 3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(*counts)
        """

    private struct Cost: CustomStringConvertible {
        var attempts: Int
        var handshakes: Int
        /// Of one core.
        var share: Double

        var description: String {
            "\(attempts) connections, \(handshakes) handshakes, \(String(format: "%.1f", 100 * share)) % of a core"
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
        let begun = ContinuousClock.now
        let result = try await Task.detached {
            try run(["/usr/bin/python3", "-c", Self.clients, "\(port)", "4"])
        }
        .value
        let time = ContinuousClock.now - begun
        let used = try #require(stage.node.processorTime) - before
        let counts = result.output.split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
        try #require(counts.count == 2, "\(result)")
        await stage.close()
        return Cost(attempts: counts[0], handshakes: counts[1], share: used / time)
    }

    @Test func theRateBoundsWhatHandshakesCost() async throws {
        let unbounded = try await measure(", handshakes: 100000, handshakes_per_address: 100000")
        let bounded = try await measure("")
        print("without a rate: \(unbounded)\nwith the usual one: \(bounded)")
        #expect(bounded.handshakes < unbounded.handshakes / 2)
        #expect(bounded.share < unbounded.share / 2)
    }
}
