import Client
import Clocks
import Crypto
import Doors
import EndpointWorlds
import Foundation
import HTTP1
import JSONCoding
import Persistence
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// Mailboxes over HTTP and WebSocket, with the real store.
@EventLoop
@Suite(.serialized) struct MailboxDoorTests {
    /// A door with one mailbox of two readers, and one that is open.
    @EventLoop
    final class World {
        let outbox: OutboxStore
        let store: StoredMailboxes
        let door: MailboxDoor
        let server: HTTPServer
        let endpoint: Endpoint
        let address = "mb1:" + String(repeating: "a", count: 96)
        let openAddress = "mb1:" + String(repeating: "b", count: 96)
        let path: String
        private(set) var sent = 0

        init(
            in directory: String = FileManager.default.temporaryDirectory.path, circuits: Circuits? = nil,
            _ change: (inout MailboxDoorSettings) -> Void = { _ in }
        ) async throws {
            path = directory + "/onionbell-mailbox-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            outbox = try await OutboxStore(path: path + "/outbox.sqlite")
            store = try await StoredMailboxes(in: outbox)
            let key = Secret([UInt8](repeating: 1, count: 32))
            let digests = MailboxDigests(key: key)
            do {
                let file = try RegistrationFile(path: path + "/outbox.sqlite", isReadOnly: false)
                let readers = ["phone", "desk"].map {
                    Mailbox.Reader(name: $0, token: digests.token("tk_\($0)"))
                }
                for (name, isOpen, address, readers) in [
                    ("mine", false, address, readers), ("open", true, openAddress, []),
                ] {
                    let mailbox = Mailbox(
                        name: name, show: .bell, isOpen: isOpen, topic: digests.topic("mb\(name)"),
                        readers: readers)
                    #expect(try file.add(mailbox, address: digests.address(address), addedAt: 1))
                }
            }
            var settings = MailboxDoorSettings()
            change(&settings)
            door = MailboxDoor(
                settings: settings, store: store, digests: digests,
                replies: ReplyBoard(store: store, digests: digests))
            door.use(try await store.all(unless: nil)?.mailboxes ?? [])
            server = HTTPServer(circuits: circuits, doors: [door])
            endpoint = try server.open(on: .unix(path: path + "/http"))
        }

        /// - Returns: The id of the message.
        @discardableResult
        func send(to address: String? = nil, padding: Int = 0) async throws -> String {
            sent += 1
            let now = EventLoop.unixTime
            let notification = Relay.Notification(
                id: NotificationID(high: UInt64(sent), low: 0),
                lane: LaneID(app: "mailboxes", host: .production),
                deviceToken: DeviceToken(address ?? self.address),
                message: "text \(sent)" + String(repeating: " ", count: padding), isUrgent: true,
                hasSound: false, isMutableContent: false, isContentAvailable: true,
                expiresAt: now + .seconds(600),
                acceptedAt: now)
            _ = try await door.keep(notification)
            return MailboxMessage.id(of: notification.id)
        }

        /// What lies in the first mailbox.
        func left() async throws -> [String] {
            try await store.messages(
                behind: [MailboxPlace(mailbox: 1, number: 0)], at: 0, limit: 1000
            ).map(\.message.text)
        }

        func close() async {
            await server.close()
            await door.close()
            await outbox.close()
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Takes what comes as it is.
    @EventLoop
    final class Reader: StreamHandler {
        let stream: Reactor.Stream
        private(set) var bytes: [UInt8] = []
        private(set) var hasEnded = false
        private var waiting: (condition: (Reader) -> Bool, continuation: CheckedContinuation<Void, Never>)?

        /// - Parameters:
        ///   - endpoint: Where another server serves the world's door.
        ///   - line: What comes before the request.
        init(
            _ world: World, _ target: String, token: String? = "tk_phone", more: String = "",
            at endpoint: Endpoint? = nil, after line: String = ""
        ) async throws {
            stream = try await Stream.connect(to: endpoint ?? world.endpoint)
            stream.handler = self
            let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            stream.write(
                Array("\(line)GET \(target) HTTP/1.1\r\nHost: x.onion\r\n\(authorization)\(more)\r\n".utf8))
        }

        var text: String { String(decoding: bytes, as: UTF8.self) }
        func count(_ words: String) -> Int { text.ranges(of: words).count }
        var messages: [String] {
            text.split(separator: "\n").filter { $0.contains(#""event":"message""#) }.compactMap {
                let start = $0.firstIndex(of: "{") ?? $0.startIndex
                return (try? JSON(Array($0[start...].utf8)))?["encrypted"]?.string
            }
        }

        func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
            bytes.withUnsafeBytes { self.bytes += $0 }
            check()
        }

        func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {
            hasEnded = true
            check()
        }

        func wait(_ condition: @escaping (Reader) -> Bool) async {
            if condition(self) || hasEnded { return }
            await withCheckedContinuation { waiting = (condition, $0) }
        }

        private func check() {
            guard let waiter = waiting, waiter.condition(self) || hasEnded else { return }
            waiting = nil
            waiter.continuation.resume()
        }

        func close() { stream.close() }
    }

    @Test func aPollBringsWhatLiesThereAndEnds() async throws {
        let world = try await World()
        let client = try await HTTPClient(world.endpoint)
        let fields = "Authorization: Bearer tk_phone\r\n"
        let empty = try #require(await client.get("/mbmine/json?poll=1", fields: fields))
        #expect(empty.status == 200 && empty.body.isEmpty)
        let ids = [try await world.send(), try await world.send()]
        let second = try await HTTPClient(world.endpoint)
        let full = try #require(await second.get("/mbmine/json?poll=1", fields: fields))
        #expect(full.fields["content-type"] == "application/x-ndjson; charset=utf-8")
        #expect(full.fields["access-control-allow-origin"] == "*")
        let lines = full.body.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON(Array($0)) }
        #expect(lines.map { $0["id"]?.string } == ids)
        #expect(lines.map { $0["encrypted"]?.string } == ["text 1", "text 2"])
        await second.waitForEnd()
        #expect(try await world.left().count == 2, "to be read is not to be acknowledged")
        await world.close()
    }

    @Test(arguments: ["json", "sse", "raw"]) func whatComesIsReadAtOnce(kind: String) async throws {
        let world = try await World()
        let reader = try await Reader(world, "/mbmine/\(kind)")
        let marker = kind == "raw" ? "\r\n1\r\n\n\r\n" : #""event":"open","topic":"mbmine""#
        await reader.wait { $0.text.contains(marker) }
        #expect(reader.text.contains("HTTP/1.1 200 OK") && reader.text.contains(marker))
        try await world.send()
        let words = kind == "raw" ? BisqContent.bell + "\n" : #""encrypted":"text 1""#
        await reader.wait { $0.text.contains(words) }
        #expect(reader.text.contains(words))
        if kind == "sse" {
            #expect(reader.text.contains("event: open\ndata: {"))
            #expect(reader.text.contains("}\n\n") && !reader.text.contains("event: message\n"))
        }
        #expect(world.door.openReadings == 1)
        await world.close()
        await reader.wait { $0.hasEnded }
        #expect(reader.text.hasSuffix("0\r\n\r\n"))
    }

    @Test func anOpenMailboxIsReadByAllAndDeletedByNobody() async throws {
        let world = try await World()
        let id = try await world.send(to: world.openAddress)
        for _ in 1...2 {
            let reader = try await Reader(world, "/mbopen/json?poll=1", token: nil)
            await reader.wait { $0.hasEnded }
            #expect(reader.messages == ["text 1"])
            let after = try await Reader(world, "/mbopen/json?poll=1&since=\(id)", token: nil)
            await after.wait { $0.hasEnded }
            #expect(after.messages.isEmpty)
        }
        // Two topics at once.
        try await world.send()
        let both = try await Reader(world, "/mbopen,mbmine/json?poll=1")
        await both.wait { $0.hasEnded }
        #expect(both.messages == ["text 1", "text 2"])
        #expect(both.count(#""topic":"mbopen""#) == 1 && both.count(#""topic":"mbmine""#) == 1)
        await world.close()
    }

    @Test(
        arguments: [
            ("/mbmine/auth", "tk_phone", 200, "success"), ("/mbmine/auth", nil, 403, "40301"),
            ("/mbmine/auth", "tk_other", 401, "40101"), ("/mbnone/auth", "tk_phone", 403, "40301"),
            ("/mbnone/auth", nil, 403, "40301"), ("/mbmine/json", nil, 403, "40301"),
            ("/mbmine/json?since=x", "tk_phone", 400, "40008"), ("/mbmine/ws", "tk_phone", 400, "40016"),
            ("/mbmine/json?%", "tk_phone", 400, "40024"), ("/v1/health", nil, 200, #""healthy":true"#),
            ("/mbmine/xml", "tk_phone", 404, "40401"), ("/mbopen/auth", nil, 200, "success"),
        ] as [(String, String?, Int, String)])
    func answersHaveNtfysCodes(target: String, token: String?, status: Int, words: String) async throws {
        let world = try await World()
        let client = try await HTTPClient(world.endpoint)
        let fields = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let answer = try #require(await client.get(target, fields: fields))
        #expect(answer.status == status)
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(body.contains(words), "\(body)")
        // The connection is good for the next one.
        #expect(await client.get("/v1/health")?.status == 200)
        world.door.isStoring = { false }
        #expect(await client.get("/v1/health")?.status == 503)
        await world.close()
    }

    @Test func browsersMayAsk() async throws {
        let world = try await World()
        let client = try await HTTPClient(world.endpoint)
        let answer = try #require(await client.ask("OPTIONS /mbmine/json HTTP/1.1\r\nHost: x\r\n\r\n"))
        #expect(answer.status == 200 && answer.fields["access-control-allow-origin"] == "*")
        #expect(await client.post("/mbmine/json", "x")?.status == 405)
        await world.close()
    }

    // MARK: Shares

    @Test func aPhoneThatComesAnewTakesThePlaceOfItsOldestLine() async throws {
        let world = try await World()
        var readers: [Reader] = []
        for _ in 0..<MailboxDoor.mostReadings + 1 {
            let reader = try await Reader(world, "/mbmine/json")
            await reader.wait { $0.text.contains("open") }
            readers.append(reader)
        }
        await readers[0].wait { $0.hasEnded }
        #expect(readers[0].hasEnded && !readers[1].hasEnded)
        #expect(world.door.openReadings == MailboxDoor.mostReadings)
        // The other reader has its own share.
        let desk = try await Reader(world, "/mbmine/json", token: "tk_desk")
        await desk.wait { $0.text.contains("open") }
        #expect(desk.text.contains("open"))
        await world.close()
    }

    @Test func strangersTakeNoPlaceOfARegisteredReader() async throws {
        let world = try await World { $0.readers = 1 }
        var readers: [Reader] = []
        for _ in 0..<MailboxDoor.mostReadings {
            let reader = try await Reader(world, "/mbopen/json", token: nil)
            await reader.wait { $0.text.contains("open") }
            readers.append(reader)
        }
        let phone = try await Reader(world, "/mbmine/json")
        await phone.wait { $0.text.contains("open") }
        #expect(phone.text.contains("HTTP/1.1 200"))
        let desk = try await Reader(world, "/mbmine/json", token: "tk_desk")
        await desk.wait { $0.text.contains("42903") }
        #expect(desk.text.contains("HTTP/1.1 429"), "all places are taken")
        await world.close()
        withExtendedLifetime(readers) {}
    }

    @Test func requestsAboveTheRateAreTurnedAway() async throws {
        let world = try await World { $0.rate = 2 }
        let client = try await HTTPClient(world.endpoint)
        var statuses: [Int] = []
        repeat {
            statuses.append(
                try #require(await client.get("/mbmine/auth", fields: "Authorization: Bearer tk_phone\r\n"))
                    .status)
        } while statuses.last == 200
        #expect(statuses.first == 200 && statuses.last == 429, "\(statuses)")
        await world.close()
    }

    @Test func aLineIsKeptAlive() async throws {
        let world = try await World { $0.keepAlive = .milliseconds(20) }
        let reader = try await Reader(world, "/mbmine/json")
        await reader.wait { $0.count(#""event":"keepalive""#) == 3 }
        #expect(reader.count(#""event":"keepalive""#) >= 3)
        #expect(MailboxDoorSettings().keepAlive < .seconds(77), "the app for Android waits no longer")
        await world.close()
    }

    /// A reader that takes nothing holds up nobody, and costs no more than its buffer.
    @Test func aReaderThatNeverReadsIsSentNoMoreThanItsBuffer() async throws {
        let world = try await World()
        let reader = try await Reader(world, "/mbmine/json")
        await reader.wait { $0.text.contains("open") }
        reader.stream.pauseReading()
        for _ in 1...300 { try await world.send(padding: 4000) }
        let other = try await Reader(world, "/mbmine/json?poll=1", token: "tk_desk")
        await other.wait { $0.hasEnded }
        #expect(other.messages.count == 300)
        #expect(reader.messages.count < 300)
        reader.stream.resumeReading()
        await reader.wait { $0.count("\"event\":\"message\"") == 300 }
        #expect(reader.messages.last?.hasPrefix("text 300 ") == true)
        await world.close()
    }
}
