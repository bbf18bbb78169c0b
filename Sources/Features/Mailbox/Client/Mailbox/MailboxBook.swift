import Encodings
import JSONCoding
import Wire

/// The book that a reader of a mailbox keeps between its runs: its access, the messages it has seen, and its list.
package struct MailboxBook: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let id: String
        /// The time when the node took the message, in seconds since 1970.
        package let time: Int64
        package let message: ReceivedMessage

        package init(id: String, time: Int64, message: ReceivedMessage) {
            self.id = id
            self.time = time
            self.message = message
        }

        /// The JSON object for scripts.
        package var json: JSON {
            [
                "id": .string(id), "time": .integer(time), "kind": .string(message.kind.rawValue),
                "title": .string(message.title), "message": .string(message.message),
                "trade": .string(message.tradeID), "sentDate": .integer(message.sentDate),
            ]
        }
    }

    /// How to read: never shown, never logged.
    package struct Access: Equatable, Sendable {
        package var pairingToken: PairingToken
        /// `http://<address>/<topic>`.
        package var url: String
        /// The token of a reader; empty for a mailbox that everybody may read.
        package var token: String

        package init(pairingToken: PairingToken, url: String, token: String) {
            self.pairingToken = pairingToken
            self.url = url
            self.token = token
        }
    }

    package var access: Access
    /// Ids, the last one last.
    package private(set) var seen: [ByteText] = []
    /// The last one last.
    package private(set) var entries: [Entry] = []
    /// The date of the last ERASE that was obeyed, in milliseconds since 1970; 0: none was.
    package private(set) var erased: Int64 = 0

    /// Above these the oldest go. A mailbox holds 500 by default.
    package static let mostSeen = 1000
    package static let mostEntries = 200
    private static let mostTextBytes = 1 << 19
    /// Bytes of a file.
    package static let longest = 2 << 20
    private static let version: Int64 = 1

    package init(_ access: Access) { self.access = access }

    /// The id of the last message seen, behind which reading goes on.
    package var last: String? { seen.last?.wrappedValue }

    package func has(_ id: String) -> Bool { seen.contains(ByteText(id)) }

    /// Uses this access from now on. Another mailbox's messages are other ones: then none counts as seen.
    package mutating func use(_ access: Access) {
        if !access.url.hasSameBytes(as: self.access.url) { seen = [] }
        self.access = access
    }

    /// Whether a message is what it says. An ERASE has to have a date of the last day that is later than that of the last
    /// one that was obeyed: Bisq 1's cipher does not show what was forged, and an old message can be handed in again.
    /// Bisq's own has no text; one with text was another kind of message before somebody changed its bits.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package func takes(_ message: ReceivedMessage, at now: Int64) -> Bool {
        guard message.kind == .erase else { return true }
        guard message.title.isEmpty, message.message.isEmpty, message.tradeID.isEmpty else { return false }
        // One that is still to come was obeyed by a clock that was ahead: it must not hold up those of today.
        let isNew = message.sentDate > erased || erased >= now + MailboxBook.clockError
        return isNew && message.sentDate >= now - MailboxBook.longestErase
            && message.sentDate < now + MailboxBook.clockError
    }

    /// Milliseconds.
    private static let longestErase: Int64 = 24 * 3_600_000
    fileprivate static let clockError: Int64 = 600_000

    /// Notes a message that is new; ERASE leaves what was sent after it.
    ///
    /// - Parameters:
    ///   - message: `nil`: it does not open.
    ///   - now: Milliseconds since 1970.
    package mutating func note(_ note: MailboxNote, _ message: ReceivedMessage?, at now: Int64) {
        seen.append(ByteText(note.id))
        seen.removeFirst(max(0, seen.count - MailboxBook.mostSeen))
        guard let message, takes(message, at: now) else { return }
        if message.kind == .erase {
            erased = message.sentDate
            entries.removeAll { $0.isErased(by: erased) }
        }
        entries.append(Entry(id: note.id, time: note.time, message: message))
        var room = MailboxBook.mostTextBytes
        let kept = entries.reversed().prefix(MailboxBook.mostEntries).prefix { entry in
            room -= entry.message.title.utf8.count + entry.message.message.utf8.count
            return room >= 0
        }
        entries = kept.reversed()
    }

    // MARK: As JSON

    package var json: JSON {
        [
            "version": .integer(MailboxBook.version),
            "pairingToken": .string(access.pairingToken.text), "url": .string(access.url),
            "token": .string(access.token),
            // Letters and digits only: one value, however many there are.
            "seen": .string(seen.map(\.wrappedValue).joined(separator: " ")),
            "list": .array(entries.map(\.json)), "erased": .integer(erased),
        ]
    }

    /// Reads a book; `nil`: the JSON is none.
    package init?(_ json: JSON) {
        guard json["version"]?.integer == MailboxBook.version,
            let token = json["pairingToken"]?.string.flatMap({ try? PairingToken($0) }),
            let url = json["url"]?.string, let bearer = json["token"]?.string,
            let seen = json["seen"]?.string, let list = json["list"]?.array
        else { return nil }
        access = Access(pairingToken: token, url: url, token: bearer)
        erased = json["erased"]?.integer ?? 0
        self.seen = seen.utf8.split(separator: UInt8(ascii: " ")).map { ByteText(String(Substring($0))) }
        for item in list {
            guard let entry = Entry(item) else { return nil }
            entries.append(entry)
        }
    }
}

extension MailboxBook.Entry {
    /// Whether an entry was sent before an ERASE of that date, or has no date and may have been.
    fileprivate func isErased(by date: Int64) -> Bool {
        // The node's own word, which may be any number.
        let taken = min(max(0, time), 1 << 40) * 1000
        let isDated =
            message.sentDate > taken - Self.longestDelay && message.sentDate < taken + MailboxBook.clockError
        return (isDated ? message.sentDate : taken - MailboxBook.clockError) <= date
    }

    /// Milliseconds: a message lies in a mailbox for 28 days at most.
    private static let longestDelay: Int64 = 31 * 24 * 3_600_000

    fileprivate init?(_ json: JSON) {
        guard let id = json["id"]?.string, let time = json["time"]?.integer,
            let kind = json["kind"]?.string?.name().flatMap({ ReceivedMessage.Kind(rawValue: $0) })
        else { return nil }
        self.init(
            id: id, time: time,
            message: ReceivedMessage(
                kind: kind, title: json["title"]?.string ?? "", message: json["message"]?.string ?? "",
                tradeID: json["trade"]?.string ?? "", sentDate: json["sentDate"]?.integer ?? 0))
    }
}
