import Client
import Crypto
import Encodings
import Foundation
import JSONCoding
import Reactor
import Testing
import Wire

@testable import MailboxClients

/// What a reader of a mailbox makes of what comes.
@Suite struct MailboxReaderTests {
    private static func token() throws -> PairingToken {
        try Phone.new(.android, descriptor: "phone").pairingToken
    }

    private func sealedByBisq1(_ json: String, _ token: PairingToken) throws -> String {
        let blanks = String(repeating: " ", count: (16 - json.utf8.count % 16) % 16)
        let iv = Array("0123456789abcdef".utf8)
        return MessageString(
            magic: .android, iv: iv,
            cipherText: try AES256CBC.encrypt(Array((json + blanks).utf8), key: Array(token.key.utf8), iv: iv)
        ).text
    }

    @Test func messagesOfBothBisqsAndTheNodeAreRead() throws {
        let token = try Self.token()
        let sent = PhoneText(
            sentDate: 5, transactionID: "abc", title: "a", message: "b\nc", kind: .dispute)
        let first = try ReceivedMessage(opening: BisqSender(to: token).seal(sent).text, with: token)
        #expect(
            first
                == ReceivedMessage(
                    kind: .dispute, title: "a", message: "b\nc", tradeID: "abc", sentDate: 5))
        let phone = try ConnectPhone(
            platform: .android, deviceToken: token.deviceToken, key: Array(token.key.utf8))
        for (category, kind) in [
            (ConnectMessage.Category.tradeUpdate, ReceivedMessage.Kind.trade), (.chatMessage, .chat),
            (.offerUpdate, .offer), (.general, .general),
        ] {
            let sealed = try phone.seal(
                ConnectMessage(id: "1", title: "a", message: "b", category: category, tradeID: "t"))
            let message = try ReceivedMessage(opening: sealed, with: token)
            #expect(message == ReceivedMessage(kind: kind, title: "a", message: "b", tradeID: "t"))
        }
        // The node's can't be taken for Bisq's.
        let notice = try ReceivedMessage(
            opening: #"OnionbellNotice|{"title":"silent","type":"ERASE","kind":"TRADE"}"#, with: token)
        #expect(notice == ReceivedMessage(kind: .node, title: "silent"))
    }

    /// Bisq of tomorrow may have more to say.
    @Test func whatIsNewIsShownAllTheSame() throws {
        let token = try Self.token()
        let text = try sealedByBisq1(#"{"type":"NEW","title":"a","field":[1],"message":7}"#, token)
        #expect(
            try ReceivedMessage(opening: text, with: token) == ReceivedMessage(kind: .general, title: "a"))
    }

    @Test(arguments: [
        "", "|", "OnionbellNotice|", "OnionbellNotice|[]", "BisqMessageAndroid|0123456789abcdef|AAAA",
        "AAAA", "Something happened in Bisq.",
    ]) func whatDoesNotOpenIsTold(text: String) throws {
        let token = try Self.token()
        #expect(throws: PhoneError.self) { try ReceivedMessage(opening: text, with: token) }
    }

    @Test func anotherKeyOpensNothing() throws {
        let (token, other) = (try Self.token(), try Self.token())
        let text = try BisqSender(to: token).seal(PhoneText(sentDate: 1, kind: .trade)).text
        #expect(throws: PhoneError.self) { try ReceivedMessage(opening: text, with: other) }
    }

    @Test func nothingInATextCommandsATerminal() {
        let message = ReceivedMessage(
            kind: .trade, title: "a\u{1b}[2J\u{0}\nb\u{202e}c\u{9b}d\u{2067}\u{7f}",
            message: "a\r\nb\u{7}" + String(repeating: "é", count: 4000))
        #expect(message.title == "a[2Jbcd")
        #expect(message.message.hasPrefix("a\nbé") && message.message.utf8.count <= 4000)
    }

    @Test func linesAreReadAsNtfyWritesThem() {
        #expect(MailboxEvent(#"{"id":"a","time":1,"event":"open","topic":"t"}"#) == .open)
        #expect(MailboxEvent(#"{"id":"a","time":1,"event":"keepalive","topic":"t"}"#) == .other)
        #expect(
            MailboxEvent(
                #"{"id":"aB1","time":7,"event":"message","topic":"t","message":"bell","encrypted":"x"}"#)
                == .message(MailboxNote(id: "aB1", time: 7, text: "x")))
        #expect(
            MailboxEvent(#"{"id":"aB1","time":7,"event":"message","topic":"t","message":"x"}"#)
                == .message(MailboxNote(id: "aB1", time: 7, text: "x")))
        for line in [
            "", "[]", "{}", #"{"event":"message"}"#,
            #"{"id":"a&b","time":7,"event":"message","message":"x"}"#,
            #"{"id":"","time":7,"event":"message","message":"x"}"#,
            #"{"id":"a","time":"7","event":"message","message":"x"}"#,
        ] { #expect(MailboxEvent(line) == nil, "\(line)") }
    }

    // MARK: The book

    private func note(_ id: Int) -> MailboxNote { MailboxNote(id: "m\(id)", time: Int64(id), text: "") }

    @Test func theBookIsTheSameAfterItWasKept() throws {
        var book = MailboxBook(.init(pairingToken: try Self.token(), url: "http://x/t", token: "tk"))
        #expect(book.last == nil)
        book.note(note(1), ReceivedMessage(kind: .trade, title: "a", message: "b\nc", tradeID: "d"), at: 0)
        book.note(note(2), nil, at: 0)
        #expect(book.has("m1") && book.has("m2") && !book.has("m3"))
        #expect(book.last == "m2" && book.entries.map(\.id) == ["m1"])
        let again = try #require(MailboxBook(JSON(Array(book.json.text.utf8))))
        #expect(again == book)
        for text in ["{}", "[]", book.json.text.replacing(#""version":1"#, with: #""version":2"#)] {
            #expect(MailboxBook(try JSON(Array(text.utf8))) == nil)
        }
    }

    @Test func theBookIsBoundedAndErased() throws {
        var book = MailboxBook(.init(pairingToken: try Self.token(), url: "http://x/t", token: ""))
        let long = ReceivedMessage(
            kind: .trade, title: String(repeating: "\"", count: 200),
            message: String(repeating: "\"", count: 4000))
        for id in 0..<(MailboxBook.mostSeen + 5) { book.note(note(id), long, at: 0) }
        #expect(book.seen.count == MailboxBook.mostSeen && !book.has("m4") && book.has("m5"))
        #expect(book.entries.count < MailboxBook.mostEntries && book.last == "m1004")
        #expect(book.json.text.utf8.count < MailboxBook.longest, "also with each character escaped")
        #expect(MailboxBook(try JSON(Array(book.json.text.utf8))) == book)
        for id in 2000..<2300 { book.note(note(id), ReceivedMessage(kind: .trade), at: 0) }
        #expect(book.entries.count == MailboxBook.mostEntries)
        book.note(note(3000), ReceivedMessage(kind: .erase, sentDate: 3_000_000), at: 3_000_000)
        #expect(book.entries.map(\.id) == ["m3000"] && book.has("m2299"))
        book.use(.init(pairingToken: book.access.pairingToken, url: "http://y/t", token: ""))
        #expect(book.last == nil && book.entries.count == 1, "another mailbox has other ids")
    }

    /// Bisq 1's cipher has no MAC, and whoever handled a message has it still.
    @Test func anEraseIsObeyedOnceAndOnItsDay() throws {
        let (hour, minute, now) = (3_600_000 as Int64, 60_000 as Int64, 1_800_000_000_000 as Int64)
        var book = MailboxBook(.init(pairingToken: try Self.token(), url: "http://x/t", token: ""))
        func erase(_ sentDate: Int64) -> ReceivedMessage {
            ReceivedMessage(kind: .erase, sentDate: sentDate)
        }
        func titles() -> [String] { book.entries.filter { $0.message.kind != .erase }.map(\.message.title) }
        func note(_ id: Int, _ message: ReceivedMessage) {
            book.note(MailboxNote(id: "m\(id)", time: now / 1000, text: ""), message, at: now)
        }
        note(1, ReceivedMessage(kind: .trade, title: "goes", sentDate: now - 3 * hour))
        note(2, ReceivedMessage(kind: .trade, title: "stays", sentDate: now - 2 * hour))
        note(3, erase(now - 2 * hour - 1))
        #expect(titles() == ["stays"])
        // One whose kind somebody has changed still has its text.
        for changed in [
            ReceivedMessage(kind: .erase, title: "x", sentDate: now),
            ReceivedMessage(kind: .erase, message: "x", sentDate: now),
            ReceivedMessage(kind: .erase, tradeID: "x", sentDate: now),
        ] {
            #expect(!book.takes(changed, at: now))
        }
        // It was kept, and is read again.
        book = try #require(MailboxBook(JSON(Array(book.json.text.utf8))))
        for (id, sent) in [
            0, now - 2 * hour - 1, now - 2 * hour - 2, now - 24 * hour - 1, now + hour, .max,
            now + 10 * minute,
        ].enumerated() {
            #expect(!book.takes(erase(sent), at: now), "\(sent - now)")
            note(10 + id, erase(sent))
            #expect(titles() == ["stays"] && book.has("m\(10 + id)"))
        }
        // None of them holds up a true one.
        note(20, erase(now - hour))
        #expect(titles() == [] && book.erased == now - hour)
        #expect(!book.takes(erase(now - hour), at: now) && book.takes(erase(now - hour + 1), at: now))
        #expect(book.takes(erase(now + 10 * minute - 1), at: now), "Bisq's clock may be ahead a little")
        #expect(book.takes(ReceivedMessage(kind: .trade), at: now))
    }

    /// A clock that was ahead must not shut out Bisq's erase messages for as long.
    @Test func anErasureOfAFalseFutureIsForgotten() throws {
        let (year, now) = (31_536_000_000 as Int64, 1_800_000_000_000 as Int64)
        var book = MailboxBook(.init(pairingToken: try Self.token(), url: "http://x/t", token: ""))
        book.note(note(1), ReceivedMessage(kind: .erase, sentDate: now + year), at: now + year)
        #expect(book.erased == now + year)
        #expect(book.takes(ReceivedMessage(kind: .erase, sentDate: now), at: now))
    }

    /// An old file has no date of an erasure; a node may say any time.
    @Test func noNumberBreaksTheBook() throws {
        var book = MailboxBook(.init(pairingToken: try Self.token(), url: "http://x/t", token: ""))
        let old = book.json.text.replacing(#""erased":0,"#, with: "")
        #expect(old != book.json.text)
        #expect(MailboxBook(try JSON(Array(old.utf8))) == book)
        for time in [Int64.min, -1, 0, .max] {
            let note = MailboxNote(id: "m\(UInt64(bitPattern: time))", time: time, text: "")
            book.note(note, ReceivedMessage(kind: .trade, sentDate: .max), at: 0)
            book.note(note, ReceivedMessage(kind: .erase, sentDate: 1), at: 0)
        }
        #expect(book.erased == 1)
    }

    // MARK: The connection

    /// Both ends of a WebSocket.
    @EventLoop
    private func sockets() throws -> (client: WebSocket, server: WebSocket) {
        let (one, other) = try Stream.pair()
        return (WebSocket(one, isClient: true), WebSocket(other, isClient: false))
    }

    @EventLoop
    private final class Holder {
        weak var session: MailboxSession?
    }

    private static func line(_ id: String) -> String {
        #"{"id":"\#(id)","time":1,"event":"message","topic":"t","message":"x"}"#
    }

    @EventLoop @Test func aMessageIsAcknowledgedWhenItWasTaken() async throws {
        let (client, server) = try sockets()
        var taken: [MailboxEvent] = []
        var pongs: [(bytes: [UInt8], taken: Int)] = []
        let session = MailboxSession(client, pingInterval: .seconds(60), patience: .seconds(5)) { event in
            // Others run meanwhile: a pong that did not wait would be seen before.
            for _ in 0..<20 { await Task.yield() }
            taken.append(event)
            return taken.count < 150
        }
        server.onPong = { pongs.append(($0, taken.count)) }
        server.start(onText: { _ in }, onEnd: {})
        for number in 0..<200 {
            server.send(Self.line("m\(number)"))
            server.ping([UInt8(number)])
        }
        #expect(await session.run(unread: []) == .notTaken)
        #expect(taken.count == 150)
        try await EventLoop.until { pongs.count >= 149 }
        #expect(pongs.map(\.bytes) == (0..<149).map { [UInt8($0)] }, "not the one that was not taken")
        #expect(pongs.enumerated().allSatisfy { $0.element.taken > $0.offset })
    }

    @EventLoop @Test func aConnectionThatSaysNothingIsOver() async throws {
        let (client, server) = try sockets()
        let session = MailboxSession(
            client, pingInterval: .milliseconds(20), patience: .milliseconds(50)
        ) { _ in true }
        // Reads nothing, so that it answers no ping.
        _ = server
        guard case .silent = await session.run(unread: []) else {
            Issue.record("it should be silent")
            return
        }
    }

    @EventLoop @Test func aConnectionEndsInItsOwnWay() async throws {
        for end in [MailboxSession.End.closed, .lost, .unreadable, .stopped] {
            let (client, server) = try sockets()
            let holder = Holder()
            let session = MailboxSession(client, pingInterval: .seconds(60), patience: .seconds(5)) { _ in
                if end == .stopped { holder.session?.stop() }
                return true
            }
            holder.session = session
            server.start(onText: { _ in }, onEnd: {})
            server.send(Self.line("a"))
            switch end {
            case .closed: server.close()
            case .lost: server.drop()
            case .unreadable: server.send("<html>")
            case _: server.send(Self.line("b"))
            }
            #expect(await session.run(unread: []) == end)
        }
    }
}
