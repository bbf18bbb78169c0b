import Doors
import HTTP1
import JSONCoding
import Relay
import Testing

@testable import MailboxEndpoint

/// What readers ask for, in ntfy's words.
@Suite struct MailboxRequestTests {
    private func request(
        _ query: String?, _ fields: [(String, String)] = [], kind: MailboxRequest.Kind = .json
    ) throws -> MailboxRequest {
        var request = HTTPRequest(method: "GET", path: "/t/json", query: query)
        for (name, value) in fields { request.fields.append(name, value) }
        return try MailboxRequest(request, topics: ["t"], kind: kind, at: 1_000_000_000)
    }

    @Test(
        arguments: [
            ("/a/json", ["a"]), ("/a,b-_9/ws", ["a", "b-_9"]),
            ("/\(String(repeating: "a", count: 64))/auth", nil),
            ("/\(String(repeating: "a", count: 65))/auth", []), ("/a", []), ("/a/", []), ("/a/json/", []),
            ("//json", []), ("/a,/json", []), ("/a,b,a,a/json", ["a", "b"]), ("/a/xml", []),
            ("/a%20/json", []), ("/v1/health", []),
            ("/\([String](repeating: "a", count: 50).joined(separator: ","))/raw", nil),
            ("/\([String](repeating: "a", count: 51).joined(separator: ","))/raw", []),
        ] as [(String, [String]?)]) func pathsHaveTheFormOfTopics(path: String, topics: [String]?)
    {
        let found = MailboxRequest.path(path)
        if let topics { #expect((found?.topics ?? []) == topics) } else { #expect(found != nil) }
    }

    @Test(
        arguments: [
            ("since=all", MailboxSince.all), ("since=none", .none), ("since=latest", .latest), ("", .none),
            ("poll=1", .all), ("poll=1&since=none", .none), ("since=1000", .time(1_000_000)),
            ("since=10m", .time(999_400_000)), ("since=1h30m", .time(994_600_000)),
            ("since=1.5h", .time(994_600_000)), ("since=10.5s", .time(999_989_500)),
            ("since=100ms", .time(999_999_900)),
            ("since=.5s", .time(999_999_500)), ("since=1.s", .time(999_999_000)),
            ("since=-10s", .time(1_000_010_000)),
            ("since=%2B10s", .time(999_990_000)), ("since=1h15m30.918s", .time(995_469_082)),
            ("since=2000us", .time(999_999_998)), ("since=3000000ns", .time(999_999_997)),
            ("since=2d", .time(827_200_000)),
            ("since=-1", .time(-1000)), ("since=0", .time(0)), ("since=0s", .time(1_000_000_000)),
            ("since=9223372036854775807", .time((1 << 40) * 1000)),
            ("since=-9223372036854775808", .time(-(1 << 40) * 1000)),
            ("si=abcDEF012345", .message("abcDEF012345")), ("since=123456789012", .message("123456789012")),
        ] as [(String, MailboxSince)])
    func sinceIsReadAsNtfyReadsIt(query: String, since: MailboxSince) throws {
        #expect(try request(query).since == since)
    }

    @Test(arguments: [
        "since=x", "since=10", "since=10y", "since=m", "since=1h2", "since=99999999999999999999h",
        "since=.s", "since=1.2.3s", "since=-", "since=--1s", "since=1,5h", "since=1ms5", "since=1 h",
        "since=+10s",
        "since=1x", "since=1e3s", "since=0x10s", "since=99999999999999999999", "since=2562048h", "since=s1",
        "since=1h-30m",
    ])
    func whatIsNoTimeIsRefused(query: String) throws {
        if query == "since=10" {
            #expect(try request(query).since == .time(10_000))
        } else {
            #expect(throws: MailboxFault.badSince) { try request(query) }
        }
    }

    @Test func aTokenComesInEachOfItsForms() throws {
        #expect(try request(nil).credentials?.token == nil)
        #expect(try request(nil, [("authorization", "Bearer tk_1")]).credentials?.token == "tk_1")
        // phone:tk_1
        #expect(try request(nil, [("authorization", "Basic cGhvbmU6dGtfMQ==")]).credentials?.user == "phone")
        #expect(try request(nil, [("authorization", "Basic OnRrXzE=")]).credentials == .init(token: "tk_1"))
        #expect(try request(nil, [("authorization", "Basic cGhvbmU6dGtfMQ==")]).credentials?.token == "tk_1")
        // Bearer tk_1
        #expect(try request("auth=QmVhcmVyIHRrXzE").credentials?.token == "tk_1")
        #expect(try request("authorization=QmVhcmVyIHRrXzE").credentials?.token == "tk_1")
        #expect(try request("authorization=QmVhcmVyIHRrXzE&auth=eA").credentials?.token == "tk_1")
        // Bearer tk_>>>, also by who writes the other Base64 and does not escape it.
        for text in ["QmVhcmVyIHRrXz4-Pg", "QmVhcmVyIHRrXz4+Pg==", "QmVhcmVyIHRrXz4%2BPg%3D%3D"] {
            #expect(try request("auth=\(text)").credentials?.token == "tk_>>>")
        }
        for wrong in ["", "Bearer", "Digest x", "Basic ???", "Basic eA==", "Bearer a b"] {
            #expect(try request(nil, [("authorization", wrong)]).credentials?.token == "", "\(wrong)")
        }
    }

    @Test func filtersTakeWhatNtfyTakes() throws {
        let line = MailboxLine(
            MailboxMessage(id: "abcdefghijkl", acceptedAt: 0, expiresAt: 0, isUrgent: true, text: "x"),
            topic: "t", showing: .bell)
        for (query, takes) in [
            ("priority=high", true), ("p=5,4", true), ("p=3", false), ("id=abcdefghijkl", true),
            ("id=b", false),
            ("title=Bisq", true), ("tags=a", false), ("message=x", false), ("p=HIGH", true), ("p=3,+4", true),
            ("message=Something+happened+in+Bisq.+Open+it+to+see+what.", true),
        ] { #expect(try request(query).filter?.takes(line) == takes, "\(query)") }
        for query in ["", "p=,", "message="] { #expect(try request(query).filter == nil, "\(query)") }
        for query in ["p=abc", "priority=0", "prio=6", "p=4,x", "p=%C3%A9", "p=-1", "p=1.5"] {
            #expect(throws: MailboxFault.badPriority) { try request(query) }
        }
        // Browsers say with each request how urgent it is to them.
        for value in ["u=1, i", "u=0", "i", "u=5,i"] {
            #expect(try request("", [("priority", value)]).filter == nil)
        }
        #expect(try request("p=4", [("priority", "u=1")]).filter?.takes(line) == true)
    }

    /// The fields that the Android app's parser requires, and the text beside the bell.
    @Test func aLineHasTheFieldsThatAppsNeed() throws {
        let message = MailboxMessage(
            id: "abcdefghijkl", acceptedAt: 1_700_000_000_123, expiresAt: 1_700_000_060_000, isUrgent: false,
            text: "BisqMessageAndroid|\"|x")
        let bell = try JSON(MailboxLine(message, topic: "t", showing: .bell).json)
        #expect(bell["id"]?.string == "abcdefghijkl" && bell["event"]?.string == "message")
        #expect(bell["time"] == .integer(1_700_000_000) && bell["expires"] == .integer(1_700_000_060))
        #expect(bell["topic"]?.string == "t" && bell["priority"] == .integer(3))
        #expect(bell["message"]?.string == BisqContent.bell && bell["encrypted"]?.string == message.text)
        let sealed = try JSON(MailboxLine(message, topic: "t", showing: .sealed).json)
        #expect(sealed["message"]?.string == message.text && sealed["encrypted"] == nil)
    }

    @Test func anIDIsThatOfTheNotification() {
        let one = MailboxMessage.id(of: NotificationID(high: 0, low: 0))
        let last = MailboxMessage.id(of: NotificationID(high: .max, low: 0))
        #expect(one == "000000000000" && last == "0LygHa16AHYF")
    }

    @Test func nobodyReadsWithoutARight() throws {
        let phone = Mailbox.Reader(number: 1, name: "phone", token: Digest(high: 1, low: 0))
        let other = Mailbox.Reader(number: 2, name: "phone", token: Digest(high: 2, low: 0))
        let (mine, theirs, open) = (
            Digest(high: 11, low: 0), Digest(high: 12, low: 0), Digest(high: 13, low: 0)
        )
        let mailboxes = [
            Mailbox(number: 1, name: "a", show: .bell, isOpen: false, topic: mine, readers: [phone]),
            Mailbox(number: 2, name: "b", show: .bell, isOpen: false, topic: theirs, readers: [other]),
            Mailbox(number: 3, name: "c", show: .bell, isOpen: true, topic: open, readers: []),
        ]
        let directory = MailboxDirectory(mailboxes)
        func access(_ topics: [Digest], _ token: Digest?, user: String? = nil) throws(MailboxFault)
            -> [String]
        {
            try directory.access(
                to: topics, for: token.map { MailboxDirectory.Claim(token: $0, user: user) }
            ).map { "\($0.mailbox.number)\($0.reader?.name ?? "")" }
        }
        #expect(try access([mine], phone.token) == ["1phone"])
        #expect(try access([mine], phone.token, user: "phone") == ["1phone"])
        #expect(try access([open], nil) == ["3"])
        #expect(try access([open, mine], phone.token) == ["3", "1phone"])
        for (topics, token) in [
            ([mine], nil), ([mine], other.token), ([mine, theirs], phone.token),
            ([Digest(high: 9, low: 9)], phone.token),
        ] { #expect(throws: MailboxFault.forbidden) { try access(topics, token) } }
        for topics in [[mine], [open]] {
            #expect(throws: MailboxFault.unauthorized) { try access(topics, Digest(high: 9, low: 9)) }
            #expect(throws: MailboxFault.unauthorized) { try access(topics, phone.token, user: "phone2") }
        }
    }

    /// The app has one user for a server: one token may be good for several mailboxes.
    @Test func aReaderOfTwoMailboxesIsItselfInBoth() throws {
        let token = Digest(high: 1, low: 0)
        let mailboxes = (1...2).map { (number: Int64) in
            Mailbox(
                number: number, name: "m\(number)", show: .bell, isOpen: false,
                topic: Digest(high: 11, low: UInt64(number)),
                readers: [Mailbox.Reader(number: number + 10, name: "phone", token: token)])
        }
        let granted = try MailboxDirectory(mailboxes).access(
            to: mailboxes.map(\.topic), for: MailboxDirectory.Claim(token: token, user: "phone"))
        #expect(granted.map(\.reader?.number) == [11, 12])
    }
}
