import Client
import Foundation
import Lab
import Reactor
import Testing
import Tor
import Wire

/// Somebody on the node's machine who says that he is tor, and names circuits that are to be closed.
@EventLoop
@Suite(.serialized) struct ForgedLineTests {
    /// Writes tor's line and a frame that breaks the rules, six times for each circuit, round and round.
    private nonisolated static let forger = """
        import socket, sys, time
        end, took, tried = time.time() + float(sys.argv[1]), 0, 0
        circuits = [int(word) for word in sys.argv[2].split(",")]
        while time.time() < end:
            for circuit in circuits:
                for path in sys.argv[3:] * 6:
                    if time.time() > end: break
                    tried += 1
                    with socket.socket(socket.AF_UNIX) as client:
                        try:
                            client.settimeout(0.1)
                            client.connect(path)
                            client.sendall(b"PROXY TCP6 fc00:dead:beef:4dad::%x:%x ::1 %d 80\\r\\n\\0\\r\\n"
                                % (circuit >> 16, circuit & 0xffff, circuit & 0xffff))
                            client.recv(1)
                            took += 1
                        except PermissionError:
                            pass
                        except OSError:
                            took += 1
        print(took, tried)
        """

    /// Tor's circuits that stand, with the state of those of the service.
    private func circuits(_ stage: NodeTests.Stage) async throws -> [UInt32: String] {
        let directory = stage.world.state + "/tor"
        let connection = try await ControlConnection.open(
            .unix(path: directory + "/control"),
            credentials: .init(cookieFile: directory + "/control.authcookie"))
        defer { connection.close() }
        let reply = try await connection.send(.getInfo(["circuit-status"]))
        let lines = (reply["circuit-status"] ?? "").split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { words in
                guard let id = words.first.flatMap({ UInt32($0) }), words.contains("BUILT") else {
                    return nil
                }
                return (id, words.first { $0.hasPrefix("HS_STATE=") }.map { String($0.dropFirst(9)) } ?? "")
            })
    }

    /// - Returns: How many connections he got, and how many he tried.
    private func forge(
        _ circuits: [UInt32], at stage: NodeTests.Stage, as user: [String], seconds: Int
    ) async throws -> (took: Int, tried: Int) {
        let sockets = ["peers", "http"].map { "\(stage.world.state)/sockets/\($0)" }
        let numbers = circuits.map(String.init).joined(separator: ",")
        let arguments = user + ["/usr/bin/python3", "-c", Self.forger, "\(seconds)", numbers] + sockets
        let result = try await Task.detached { try run(arguments) }.value
        let words = result.output.split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
        try #require(words.count == 2, "\(result)")
        return (words[0], words[1])
    }

    @Test func aLocalUserCutsNobodyOff() async throws {
        let stage = try await NodeTests.Stage()
        // Without that he would not even come to the directory of the sockets.
        chmod(stage.world.directory.path, 0o755)
        chmod(stage.world.state, 0o755)
        let guest = try await stage.dial()
        _ = try await guest.ping()
        let before = try await circuits(stage)
        let introductions = before.filter { $0.value == "HSSI_ESTABLISHED" }.keys
        #expect(!introductions.isEmpty && before.values.contains("HSSR_JOINED"))
        if getuid() == 0 {
            let other = ["setpriv", "--reuid=33", "--regid=33", "--clear-groups"]
            async let flood = forge(Array(1...60), at: stage, as: other, seconds: 8)
            var dials = 0
            for _ in 0..<5 {
                let peer = try await stage.dial()
                _ = try await peer.ping()
                peer.close()
                dials += 1
            }
            let (took, tried) = try await flood
            print(
                "another user tried \(tried) connections and got \(took); \(dials) honest dials beside them")
            #expect(took == 0 && tried > 100)
        }
        // The node's own user comes to the sockets. What he names is closed only if it is a client's circuit.
        let others = before.filter { $0.value != "HSSR_JOINED" }.map(\.key)
        let (took, _) = try await forge(others, at: stage, as: [], seconds: 4)
        #expect(took > 0)
        // What the node asks tor to close is closed before tor answers the next question.
        try await until {
            let answer = try run([
                "curl", "-s", "--unix-socket", stage.world.directory.path + "/management",
                "http://localhost/metrics",
            ])
            let closed = answer.output.firstMatch(of: /limits_hit_total\{limit="circuit_closed"\} (\d+)/)
            return closed.flatMap { Int($0.output.1) } ?? 0 > 0
        }
        let after = try await circuits(stage)
        #expect(introductions.allSatisfy { after[$0] == "HSSI_ESTABLISHED" })
        _ = try await guest.ping()
        await stage.close()
    }
}
