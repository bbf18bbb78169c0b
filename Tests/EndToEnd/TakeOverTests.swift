import Foundation
import Lab
import Reactor
import Testing

/// An operator of another relay takes the address along.
@EventLoop
@Suite(.serialized) struct TakeOverTests {
    /// The command of the article.
    private func documentedCommand() throws -> [String] {
        let article = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/TakingOver.md"),
            encoding: .utf8)
        let line = article.split(separator: "\n").first { $0.hasPrefix("onionbell key import") }
        return try #require(line).split(separator: " ").map(String.init)
    }

    /// A tor that makes an onion service's key, and is not needed any more.
    private func makeService(in directory: String) async throws {
        var exit: ChildExit?
        let tor = try ChildProcess(
            [
                "tor", "-f", "/dev/null", "--ignore-missing-torrc", "--DataDirectory", directory + "/data",
                "--DisableNetwork", "1", "--SocksPort", "0", "--HiddenServiceDir", directory + "/service",
                "--HiddenServicePort", "80 127.0.0.1:8080",
            ], onExit: { exit = $0 })
        try await until {
            exit != nil || FileManager.default.fileExists(atPath: directory + "/service/hostname")
        }
        tor.signal(SIGKILL)
        try await until { exit != nil }
    }

    @Test func theAddressOfATorsOwnServiceIsTheNodes() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/onionbell-keys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try await makeService(in: directory)
        let address = try String(contentsOfFile: directory + "/service/hostname", encoding: .utf8)
        let command = try documentedCommand()
        let stage = try await NodeTests.Stage { world in
            let configuration = try world.configure(tor: ["mode: own"])
            let made = try run(
                [program] + command[1...].dropLast() + [
                    "\(directory)/service/\(command[command.count - 1])", "--config", configuration,
                ])
            #expect(made.status == 0, "\(made.errors)")
        }
        #expect(stage.address + "\n" == address)
        #expect(try await stage.dial().ping() > .zero)
        await stage.close()
    }
}
