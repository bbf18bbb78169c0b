import Encodings

/// One message of the way back, before it is sealed: a phone's reply to its Bisq, or the answer of Bisq's agent to that
/// reply.
///
/// `counter (8) | sent at (8) | length (1) | kind | length (2) | text | zeros`, numbers big-endian, filled up to a multiple
/// of 256 bytes, so that its length says little of what is asked.
package struct PhoneReply: Equatable, Sendable {
    /// A number above the counters of all earlier replies, of all phones that share the key: milliseconds since 1970, or the
    /// last counter plus one if that is more. It is ahead of ``sentAt`` by at most ``ReplyWindow/clockError``.
    package let counter: Int64
    /// Milliseconds since 1970.
    package let sentAt: Int64
    /// 1 to 32 lower-case letters, digits and hyphens.
    package let kind: String
    /// The text, at most 1,000 bytes of UTF-8 without control characters.
    package let text: String

    package static let longestText = 1000
    private static let longestKind = 32
    private static let block = 256
    /// Bytes of all that a reply may have.
    package static let longest = 5 * block

    /// Makes a reply; `nil` where a part has another form than it may have.
    package init?(counter: Int64, sentAt: Int64, kind: String, text: String) {
        guard counter > 0, sentAt > 0, PhoneReply.isKind(kind), PhoneReply.isText(text) else {
            return nil
        }
        (self.counter, self.sentAt, self.kind, self.text) = (counter, sentAt, kind, text)
    }

    package static func isKind(_ text: String) -> Bool {
        (1...longestKind).contains(text.utf8.count)
            && text.consists { byte in
                ASCII.letter(byte) & (byte >> 5 & 1) | ASCII.digit(byte) | ASCII.equal(byte, "-")
            }
    }

    package static func isText(_ text: String) -> Bool {
        text.utf8.count <= longestText
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt64(counter), bytes: 8)
        bytes.append(number: UInt64(sentAt), bytes: 8)
        bytes.append(number: UInt64(kind.utf8.count), bytes: 1)
        bytes.append(contentsOf: kind.utf8)
        bytes.append(number: UInt64(text.utf8.count), bytes: 2)
        bytes.append(contentsOf: text.utf8)
        let rest = bytes.count % PhoneReply.block
        if rest > 0 { bytes.append(contentsOf: repeatElement(0, count: PhoneReply.block - rest)) }
        return bytes
    }

    /// Takes exactly what ``bytes`` gives; `nil`: it is none.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= PhoneReply.longest else { return nil }
        var rest = bytes[...]
        guard let counter = rest.takeNumber(bytes: 8).flatMap({ Int64(exactly: $0) }),
            let sentAt = rest.takeNumber(bytes: 8).flatMap({ Int64(exactly: $0) }),
            let kind = rest.takeText(lengthBytes: 1), let text = rest.takeText(lengthBytes: 2)
        else { return nil }
        self.init(counter: counter, sentAt: sentAt, kind: kind, text: text)
        guard self.bytes == bytes else { return nil }
    }
}

/// Why a reply is not acted upon. What it says is not among it.
package enum ReplyFault: String, Error, CaseIterable, Sendable {
    /// The reply was changed, sealed under another key or for the other direction, or has another form.
    case notAuthentic = "not_authentic"
    /// It, or a later one, was taken before.
    case replayed
    /// The reply was sent longer ago than a reply is good for, or before the agent was there.
    case expired
    /// The reply was sent later than now, or counted so: one of the two clocks is wrong, or was.
    case fromTheFuture = "from_the_future"
}

/// Decides which replies of a channel are still taken: each once, in the order of their counters, for ten minutes.
package struct ReplyWindow: Equatable, Sendable {
    /// The counter of the last reply that was taken.
    package private(set) var counter: Int64
    /// Milliseconds since 1970. Replies sent before are not taken: no counter could tell whether they were taken already.
    package private(set) var since: Int64

    /// Milliseconds that a reply is good for.
    package static let validity: Int64 = 600_000
    /// The milliseconds by which the sender's clock may be ahead.
    package static let clockError: Int64 = 120_000

    package init(counter: Int64 = 0, since: Int64) {
        self.counter = counter
        self.since = since
    }

    /// Starts the window anew with the agent. What was sent before the agent's first
    /// start is good for no longer than a reply is. So if ``since`` is further ahead than
    /// that, the clock was ahead when it was written down.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package mutating func restart(at now: Int64) { since = min(since, now + ReplyWindow.validity) }

    /// Whether the last reply was counted further ahead of now than one can be that is taken now: the agent's clock was
    /// wrong then, or is wrong now. Until it has caught up, every reply is ``ReplyFault/replayed``.
    package func isAhead(at now: Int64) -> Bool { counter - now > 2 * ReplyWindow.clockError }

    /// Returns the counter of a phone's next reply.
    ///
    /// - Parameters:
    ///   - last: What it counted the last one with; 0: there was none.
    ///   - now: Milliseconds since 1970.
    package static func counter(after last: Int64, at now: Int64) -> Int64 {
        // So far ahead, the phone's clock was wrong, and nobody has taken what it sent.
        last < now + clockError ? max(now, last + 1) : now
    }

    /// Takes a reply, which is the last one then. A counter that is far ahead would shut out the other phones.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package mutating func take(_ reply: PhoneReply, at now: Int64) throws(ReplyFault) {
        guard reply.sentAt - now <= ReplyWindow.clockError,
            reply.counter - reply.sentAt <= ReplyWindow.clockError
        else { throw .fromTheFuture }
        guard now - reply.sentAt < ReplyWindow.validity, reply.sentAt >= since else { throw .expired }
        guard reply.counter > counter else { throw .replayed }
        counter = reply.counter
    }
}

extension [UInt8] {
    /// Appends the low bytes of a number, the highest first.
    fileprivate mutating func append(number: UInt64, bytes: Int) {
        for index in (0..<bytes).reversed() { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func takeNumber(bytes: Int) -> UInt64? {
        guard count >= bytes else { return nil }
        defer { self = dropFirst(bytes) }
        return prefix(bytes).reduce(0) { $0 << 8 | UInt64($1) }
    }

    fileprivate mutating func takeText(lengthBytes: Int) -> String? {
        guard let length = takeNumber(bytes: lengthBytes), length <= UInt64(count) else { return nil }
        defer { self = dropFirst(Int(length)) }
        return String(validating: prefix(Int(length)), as: UTF8.self)
    }
}
