import Foundation
import Lab
import Reactor
import Testing

/// Who on the node's own machine can connect to its doors: tor, and nobody else.
@EventLoop
@Suite(.serialized) struct DoorSocketTests {
    /// The TCP ports at which a process listens.
    private func ports(of processID: Int32) throws -> [String] {
        let root = "/proc/\(processID)"
        let sockets = Set(
            try FileManager.default.contentsOfDirectory(atPath: root + "/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(root)/fd/\($0)")
            })
        var ports: [String] = []
        for family in ["tcp", "tcp6"] {
            let table = try String(contentsOfFile: "\(root)/net/\(family)", encoding: .utf8)
            for line in table.split(separator: "\n") {
                let columns = line.split(separator: " ")
                // 0A: it listens.
                guard columns.count > 9, columns[3] == "0A" else { continue }
                if sockets.contains("socket:[\(columns[9])]") { ports.append(String(columns[1])) }
            }
        }
        return ports
    }

    private func mode(_ path: String) throws -> Int {
        var status = stat()
        try #require(stat(path, &status) == 0, "\(path)")
        return Int(status.st_mode & 0o777)
    }

    @Test func anotherUserOfTheMachineReachesNoDoorOfTheAddress() async throws {
        let stage = try await NodeTests.Stage(more: ["doors: {web_push: {listen: [onion:81]}}"])
        // Without that the test would prove nothing of the sockets.
        chmod(stage.world.directory.path, 0o755)
        chmod(stage.world.state, 0o755)
        let ports = try ports(of: try #require(stage.node.processID))
        #expect(ports.isEmpty, "other users can connect to these")
        let directory = stage.world.state + "/sockets"
        #expect(try mode(directory) == 0o700)
        let sockets = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(sockets == ["http", "http-2", "peers"])
        for socket in sockets { #expect(try mode("\(directory)/\(socket)") == 0o600) }
        if getuid() == 0 {
            chmod(directory, 0o711)
            for socket in sockets {
                let answer = try run([
                    "setpriv", "--reuid=33", "--regid=33", "--clear-groups", "curl", "-sv", "-m", "5",
                    "--unix-socket", "\(directory)/\(socket)", "http://localhost/",
                ])
                #expect(answer.status == 7 && answer.errors.contains("Permission denied"), "\(answer)")
            }
        }
        // And tor does.
        _ = try await stage.dial().ping()
        await stage.close()
    }
}
