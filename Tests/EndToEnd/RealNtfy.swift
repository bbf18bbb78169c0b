import Foundation
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Vectors

/// ntfy's own program, of a version that Deploy/tools/dependencies unpacks beside the build.
struct RealNtfy: CustomTestStringConvertible, Sendable {
    let version: String

    /// Debian's newest, and in the long run that of Debian 13 as well.
    static let all = (isLong ? ["2.27.0", "2.11.0"] : ["2.27.0"]).map { RealNtfy(version: $0) }
    static var areHere: Bool { all.allSatisfy { FileManager.default.isExecutableFile(atPath: $0.path) } }

    var testDescription: String { version }
    var hasSequences: Bool { version == "2.27.0" }
    var path: String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../.build/ntfy/\(version)/usr/bin/ntfy").standardized.path
    }

    /// To its end.
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> CommandResult {
        let all = [path] + arguments
        return try await Task.detached { try EndToEndTests.run(all, environment: environment) }.value
    }

    /// Makes a publisher of the mailbox `me`, and returns once the node knows it, with a first text.
    func publisher(
        at url: String, of configuration: String, environment: [String: String] = [:]
    ) async throws -> String {
        let arguments = [
            program, "mailbox", "publishers", "add", "me", "cron", "--json", "--config", configuration,
        ]
        let made = try await Task.detached { try EndToEndTests.run(arguments) }.value
        let token = try #require(try JSON(Array(made.output.utf8))["token"]?.string)
        // It is told of a wrong token as any other: with an error, and nothing is published.
        try await until {
            try await run(["publish", "--token", token, url, "first"], environment: environment).status == 0
        }
        return token
    }
}

/// A server of ntfy's that lets nobody do anything, but for an account that may write to one topic and another that may read
/// it.
@EventLoop
final class RealNtfyServer {
    let ntfy: RealNtfy
    let url: String
    private(set) var token = ""
    private let file: String
    private var program: LabProgram

    /// - Parameters:
    ///   - settings: Further lines of its configuration.
    ///   - certificate: By files of a chain and its key; `nil`: by plain HTTP.
    init(
        _ ntfy: RealNtfy, in directory: LabDirectory, settings: String = "",
        certificate: (chain: String, key: String)? = nil
    ) async throws {
        self.ntfy = ntfy
        let port = try freePort()
        let scheme = certificate == nil ? "http" : "https"
        url = "\(scheme)://localhost:\(port)"
        file = directory.path + "/server.yml"
        let listen =
            if let certificate {
                """
                listen-http: "-"
                listen-https: "127.0.0.1:\(port)"
                cert-file: "\(certificate.chain)"
                key-file: "\(certificate.key)"
                """
            } else {
                "listen-http: \"127.0.0.1:\(port)\""
            }
        try LabDirectory.write(
            Array(
                """
                \(listen)
                base-url: "\(url)"
                auth-file: "\(directory.path)/auth.db"
                cache-file: "\(directory.path)/cache.db"
                auth-default-access: deny-all
                \(settings)

                """.utf8), to: file)
        program = try LabProgram([ntfy.path, "serve", "--config", file])
        await listens()
        for (arguments, password) in [
            (["user", "--config", file, "add", "node"], "secret"),
            (["user", "--config", file, "add", "phone"], "secret"),
            (["access", "--config", file, "node", "bisq-me", "write-only"], nil),
            (["access", "--config", file, "phone", "bisq-me", "read-only"], nil),
            (["access", "--config", file, "phone", "up*", "read-only"], nil),
            (["access", "--config", file, "everyone", "up*", "write-only"], nil),
        ] as [([String], String?)] {
            let result = try await ntfy.run(
                arguments, environment: password.map { ["NTFY_PASSWORD": $0] } ?? [:])
            #expect(result.status == 0, "\(result.errors)")
        }
        let made = try await ntfy.run(["token", "--config", file, "add", "node"])
        let words = (made.output + made.errors).split(whereSeparator: \.isWhitespace)
        token = String(try #require(words.first { $0.hasPrefix("tk_") }))
    }

    private func listens() async {
        await program.wait { $0.exit != nil || $0.lines.contains { $0.contains("Listening on") } }
        #expect(program.exit == nil, "\(program.lines)")
    }

    /// What lies in a topic.
    func poll(_ topic: String, environment: [String: String] = [:]) async throws -> [JSON] {
        let read = try await ntfy.run(
            ["subscribe", "-u", "phone:secret", "--poll", "\(url)/\(topic)"], environment: environment)
        return try read.output.split(separator: "\n").map { try JSON(Array($0.utf8)) }
    }

    /// As by `kill -9`.
    func kill() async { await program.kill() }

    func start() async throws {
        program = try LabProgram([ntfy.path, "serve", "--config", file])
        await listens()
    }
}
