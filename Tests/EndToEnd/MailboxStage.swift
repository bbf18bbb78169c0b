import Client
import Crypto
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// A mailbox of a node in a test, with what `onionbell mailbox add` showed of it.
struct StagedMailbox {
    let pairingToken: PairingToken
    let url: String
    let tokens: [String: String]
    /// All of it, as it was printed.
    let file: String

    var topic: String { String(url.split(separator: "/").last ?? "") }

    /// - Parameter configuration: The node's; the file is written beside it.
    static func add(
        _ name: String = "me", readers: [String] = ["phone"], options: [String] = [], to configuration: String
    ) async throws -> StagedMailbox {
        let arguments =
            [program, "mailbox", "add", name, "--json", "--config", configuration]
            + readers.flatMap { ["--reader", $0] } + options
        let result = try await Task.detached { try run(arguments) }.value
        #expect(result.status == 0, "\(result.errors)")
        let made = try JSON(Array(result.output.utf8))
        let file = "\(configuration).\(name)"
        try LabDirectory.write(Array(result.output.utf8), to: file)
        return StagedMailbox(
            pairingToken: try PairingToken(try #require(made["pairingToken"]?.string)),
            url: try #require(made["url"]?.string),
            tokens: Dictionary(
                uniqueKeysWithValues: try readers.map {
                    ($0, try #require(made["readers"]?[$0]?.string))
                }), file: file)
    }

    /// As Bisq 1 asks its relay; its ERASE has no text.
    func bisq1(
        _ title: String, kind: PhoneText.Kind = .trade, sent: Int64 = EventLoop.unixMilliseconds
    ) throws -> HTTPRequest {
        try BisqSender(to: pairingToken).httpRequest(
            for: PhoneText(
                sentDate: sent, title: title, message: kind == .erase ? "" : "Grüße", kind: kind))
    }

    /// As a trusted node of Bisq 2 asks its relay.
    func bisq2(_ title: String) throws -> HTTPRequest {
        let phone = try ConnectPhone(
            platform: .android, deviceToken: pairingToken.deviceToken, key: Array(pairingToken.key.utf8))
        return phone.request(
            for: try phone.seal(
                ConnectMessage(
                    id: "1", title: title, message: "Grüße", category: .tradeUpdate, tradeID: "t")))
    }
}

/// A node on this machine alone, with a mailbox.
@EventLoop
final class MailboxStage {
    let stage: LoopbackStage
    let http: Endpoint
    let port: UInt16
    private(set) var mailbox: StagedMailbox!

    /// - Parameter door: further settings of `doors.mailbox`.
    init(readers: [String] = ["phone"], options: [String] = [], door: String = "") async throws {
        let ports = (try freePort(), try freePort())
        (port, http) = (ports.0, .host("127.0.0.1", port: ports.1))
        stage = try LoopbackStage {
            $0.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
                .replacing("guarded: false}", with: "guarded: false, http_listen: \"127.0.0.1:\(ports.1)\"}")
                + "doors:\n  mailbox: {listen: [\"127.0.0.1:\(ports.0)\"]\(door)}\n"
        }
        try await stage.start()
        mailbox = try await .add(readers: readers, options: options, to: stage.configuration)
        await stage.logged("mailbox.changed")
    }

    /// Whether Bisq is told that it was taken.
    func send(_ request: HTTPRequest) async throws -> Bool {
        let answer = try await HTTPExchange.answer(
            to: request, host: "x", by: .direct(http), deadline: theRun)
        let body = String(decoding: answer.body, as: UTF8.self)
        let isTaken = body == "success" || body.contains(#""wasAccepted":true"#)
        if !isTaken {
            print("answered \(answer.status) \(body):", stage.node.lines.suffix(20).joined(separator: "\n"))
        }
        return isTaken
    }

    /// A new path for what a reader keeps.
    func newFile() -> String { stage.world.directory.path + "/reader/\(UUID().uuidString)" }

    func reader(_ file: String, _ arguments: String...) throws -> LabReader {
        try LabReader(program, file: file, arguments: arguments)
    }

    /// `onionbell receive`, to its end.
    func receive(_ file: String, _ arguments: String..., input: String = "") async throws -> CommandResult {
        let all = [program, "receive", "--file", file] + arguments
        return try await Task.detached { try run(all, input: input) }.value
    }

    /// How many messages lie there that a reader has not acknowledged, once it is so many or after a while.
    func waiting(until count: Int) async throws -> Int {
        var found = -1
        try await until {
            let arguments = [program, "mailbox", "list", "--config", stage.configuration]
            let listed = try await Task.detached { try run(arguments) }.value.output
            let rows = listed.split(separator: "\n").map { $0.split(separator: "\t") }
            let column = rows.first?.firstIndex(of: "messages") ?? 0
            found = rows.first { $0.first == "me" }.flatMap { Int($0[column]) } ?? -1
            return found == count
        }
        return found
    }

    func close() async { await stage.close() }
}
