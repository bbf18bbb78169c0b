import Client
import Foundation
import JSONCoding
import Lab
import MailboxClients
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// Mailboxes of two built nodes on one real PostgreSQL.
@EventLoop
@Suite(.serialized) struct SharedMailboxTests {
    /// A reader with its answer open at one of the nodes.
    @EventLoop
    private final class Reader {
        private let socket: WebSocket
        private(set) var texts: [String] = []

        init(_ token: String, of topic: String, at port: UInt16) async throws {
            let (socket, rest) = try await WebSocket.open(
                WebSocket.Opening(
                    host: "127.0.0.1:\(port)", path: "/\(topic)/ws",
                    fields: [("Authorization", "Bearer \(token)")]),
                by: .direct(.host("127.0.0.1", port: port)))
            self.socket = socket
            socket.start(unread: rest, onText: { [unowned self] in texts.append($0) }, onEnd: {})
        }

        func hears(_ count: Int) async throws -> [JSON] {
            try await until { messages.count >= count }
            #expect(messages.count == count, "\(texts)")
            return messages
        }

        private var messages: [JSON] {
            texts.compactMap { try? JSON(Array($0.utf8)) }.filter { $0["event"]?.string == "message" }
        }

        func close() { socket.close() }
    }

    private let server: PostgreSQLServer
    private let database: String

    init() throws {
        server = try PostgreSQLServer.shared.get()
        database = try server.makeDatabase()
    }

    private func started(_ port: UInt16, with first: LoopbackStage? = nil) async throws -> LoopbackStage {
        let stage = try LoopbackStage {
            $0.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
                + "doors:\n  mailbox: {listen: [\"127.0.0.1:\(port)\"]}\n"
                + "storage: {url: \"\(server.url(database))\"}\n"
        }
        if let first { try stage.share(first) }
        try await stage.start()
        return stage
    }

    @Test func aReaderHearsWhateverNodeItCameTo() async throws {
        let ports = (try freePort(), try freePort())
        let first = try await started(ports.0)
        let second = try await started(ports.1, with: first)
        let mailbox = try await StagedMailbox.add(readers: ["phone", "desk"], to: first.configuration)
        for stage in [first, second] { await stage.logged("mailbox.changed") }
        let (phone, desk) = (try #require(mailbox.tokens["phone"]), try #require(mailbox.tokens["desk"]))
        let readers = (
            try await Reader(phone, of: mailbox.topic, at: ports.0),
            try await Reader(desk, of: mailbox.topic, at: ports.1)
        )
        let sender = BisqSender(to: mailbox.pairingToken)
        for number in 1...6 {
            let peer = try await (number.isMultiple(of: 2) ? first : second).dial()
            let request = try sender.request(
                for: PhoneText(sentDate: 1, title: "\(number)", message: "x", kind: .trade))
            #expect(try await peer.send(request, deadline: theRun).status == .stored)
            // One node has the mailbox's shard, and the other one's reader hears of it all the same.
            _ = try await (readers.0.hears(number), readers.1.hears(number))
            peer.close()
        }
        let heard = try await (readers.0.hears(6), readers.1.hears(6))
        #expect(heard.0.map { $0["id"] } == heard.1.map { $0["id"] })

        // A topic that a phone makes at one node is known at the other.
        let topic = "upAbCdEfGhIjKl"
        let subscriber = try await Reader(phone, of: topic, at: ports.0)
        var answer = ""
        try await until {
            answer = try run([
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "hello",
                "http://127.0.0.1:\(ports.1)/\(topic)?up=1",
            ]).output
            return answer == "200"
        }
        #expect(try await subscriber.hears(1).count == 1)
        readers.0.close()
        readers.1.close()
        subscriber.close()
        for stage in [second, first] { await stage.close() }
    }

    /// A publisher comes to whatever node; what it wants published later is there also if that node was killed.
    @Test func whatIsPublishedAtOneNodeIsReadAtTheOther() async throws {
        let ports = (try freePort(), try freePort())
        let first = try await started(ports.0)
        let second = try await started(ports.1, with: first)
        let mailbox = try await StagedMailbox.add(readers: ["phone"], to: first.configuration)
        for stage in [first, second] { await stage.logged("mailbox.changed") }
        let made = try run([
            program, "mailbox", "publishers", "add", "me", "cron", "--json", "--config", first.configuration,
        ])
        let token = try #require(try JSON(Array(made.output.utf8))["token"]?.string)
        func publish(_ text: String, at port: UInt16, _ more: String...) throws -> String {
            let arguments = [
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(token)",
                "-d", text, "http://127.0.0.1:\(port)/\(mailbox.topic)",
            ]
            return try run(arguments + more).output
        }
        let reader = try await Reader(try #require(mailbox.tokens["phone"]), of: mailbox.topic, at: ports.0)
        for (number, port) in [ports.1, ports.0].enumerated() {
            try await until { try publish("\(number)", at: port) == "200" }
            #expect(try await reader.hears(number + 1).last?["message"] == .string("\(number)"))
        }
        #expect(try publish("later", at: ports.1, "-H", "In: 1h") == "200")
        try second.signal(SIGKILL)
        await second.node.wait { $0.exit != nil }
        // Its hour is over.
        #expect(
            try server.psql(
                database, "UPDATE onionbell.mailbox_delayed SET due_at = 1000 RETURNING is_urgent")
                == "0")
        try await second.start()
        #expect(try await reader.hears(3).last?["message"] == "later")
        #expect(try server.psql(database, "SELECT count(*) FROM onionbell.mailbox_delayed") == "0")

        // A token that leaked is good at neither.
        let remove = try run([
            program, "mailbox", "publishers", "remove", "me", "cron", "--config", second.configuration,
        ])
        #expect(remove.status == 0, "\(remove.errors)")
        for port in [ports.0, ports.1] {
            try await until { try publish("x", at: port) == "401" }
        }
        reader.close()
        for stage in [second, first] { await stage.close() }
    }

    @Test func aReplyIsHeardOfWhateverNodeItCameTo() async throws {
        let ports = (try freePort(), try freePort())
        let first = try await started(ports.0)
        let second = try await started(ports.1, with: first)
        let mailbox = try await StagedMailbox.add(readers: ["phone"], to: first.configuration)
        for stage in [first, second] { await stage.logged("mailbox.changed") }
        let channel = ReplyChannel(.toBisq, of: mailbox.pairingToken)
        let calls = ReplyCalls(channel, of: mailbox.pairingToken)
        // It waits for longer than the test has time.
        async let heard = HTTPExchange.answer(
            to: calls.fetch(acknowledging: 0, waiting: 120), host: "x",
            by: .direct(.host("127.0.0.1", port: ports.0)), deadline: theRun)
        try await until { try first.metrics().contains("onionbell_http_requests_total 1\n") }
        // The store is asked in turn: what came first has found nothing either, and waits.
        let none = try await HTTPExchange.answer(
            to: calls.fetch(acknowledging: 0, waiting: 0), host: "x",
            by: .direct(.host("127.0.0.1", port: ports.0)))
        #expect(ReplyCalls.replies(in: none)?.isEmpty == true)
        let reply = try #require(
            PhoneReply(counter: 1, sentAt: EventLoop.unixMilliseconds, kind: "status", text: ""))
        let posted = try await HTTPExchange.answer(
            to: calls.post(try channel.seal(reply)), host: "x",
            by: .direct(.host("127.0.0.1", port: ports.1)), deadline: theRun)
        #expect(posted.status == 200)
        #expect(ReplyCalls.replies(in: try await heard)?.count == 1)
        for stage in [second, first] { await stage.close() }
    }
}
