import Relay
import Testing

@testable import MailboxEndpoint

/// What readers of mailboxes acknowledge, by what they were sent.
@Suite final class MailboxBooksTests {
    private var books = MailboxBooks()

    /// Begins a connection that reads mailboxes 1, 2 … with readers 11, 12 ….
    private func open(
        _ mailboxes: ClosedRange<Int64> = 1...1, behind number: Int64 = 0, filtered: Bool = false
    ) -> MailboxStream {
        books.open(
            from: mailboxes.map { MailboxStart($0, behind: number) }, for: mailboxes.map { 10 + $0 },
            isFiltered: filtered)
    }

    private func send(_ numbers: Int64..., to stream: inout MailboxStream, from source: Int = 0) {
        books.join(&stream)
        for number in numbers {
            stream.pass(number)
            stream.note(number, "id\(number)", from: source)
        }
        books.note(stream)
    }

    /// What a reader says that comes back with an id.
    private func starts(
        _ id: String, lyingAs number: Int64?, in mailboxes: ClosedRange<Int64> = 1...1
    ) -> [MailboxStart] {
        MailboxReturn.starts(
            behind: id,
            in: mailboxes.map {
                MailboxReturn(
                    $0, reader: 10 + $0, number: $0 == 1 ? number : nil, acknowledged: 2,
                    sent: books.sent(to: 10 + $0, filtered: false))
            })
    }

    private func receipt(_ after: Int64, _ upTo: Int64, by reader: Int64 = 11) -> MailboxReceipt {
        MailboxReceipt(reader: reader, after: after, upTo: upTo)
    }

    private func isSent(_ after: Int64, _ upTo: Int64) -> Bool {
        let sent = books.sent(to: 11, filtered: false)
        return sent?.after == after && sent?.upTo == upTo && sent?.id == "id\(upTo)"
    }

    @Test func onlyTheLastOneThatWasSentIsAReceipt() {
        var stream = open(behind: 2)
        send(3, 4, 5, to: &stream)
        #expect(starts("id5", lyingAs: 5).map(\.receipt) == [receipt(2, 5)])
        #expect(
            starts("id5", lyingAs: nil).map(\.receipt) == [receipt(2, 5)], "it was replaced, or has expired")
        for (id, number, after) in [("id4", 4, 2), ("id2", 2, 2), ("id9", 9, 9)] as [(String, Int64, Int64)] {
            #expect(
                starts(id, lyingAs: number) == [
                    MailboxStart(1, behind: number, after: after, sent: books.sent(to: 11, filtered: false))
                ])
        }
        #expect(starts("nobody", lyingAs: nil).map(\.place.number) == [2], "where it has acknowledged")
    }

    /// A phone whose connection was cut goes on behind what it has: with that it acknowledges all.
    @Test func aCutCostsNothing() {
        var stream = open()
        send(1, 2, 3, to: &stream)
        let start = starts("id2", lyingAs: 2)
        var next = books.open(from: start, for: [11], isFiltered: false)
        send(3, to: &next)
        #expect(starts("id3", lyingAs: 3).map(\.receipt) == [receipt(0, 3)])
    }

    @Test func ofSeveralMailboxesEachHasItsOwnReceipt() {
        // The second one was added last, and has older messages that nobody was sent.
        var stream = books.open(
            from: [MailboxStart(1, behind: 7), MailboxStart(2, behind: 7)], for: [11, 12], isFiltered: false)
        send(8, to: &stream)
        #expect(stream.receipts(upTo: 8) == [receipt(7, 8)])
        #expect(stream.receipts(upTo: 9) == [], "that was not sent yet")
        #expect(starts("id8", lyingAs: 8, in: 1...2).map(\.receipt) == [receipt(7, 8), nil])
        send(9, to: &stream, from: 1)
        #expect(stream.receipts(upTo: 9) == [receipt(7, 9), receipt(7, 9, by: 12)])
        #expect(
            starts("id9", lyingAs: nil, in: 1...2).map(\.receipt) == [receipt(7, 9), receipt(7, 9, by: 12)])
        // Another connection's id says nothing of what came over this one.
        var other = open(2...2, behind: 9)
        send(10, to: &other)
        #expect(starts("id9", lyingAs: 9, in: 1...2).map(\.receipt) == [receipt(7, 9), nil])
    }

    /// The old connection is dead, and nobody knows it yet.
    @Test func ofTwoConnectionsTheOneThatWasSentLessSpeaks() {
        var dead = open()
        send(1, 2, to: &dead)
        var stream = open(behind: 2)
        for (first, second) in [(3, 4), (5, 6)] as [(Int64, Int64)] {
            send(first, second, to: &dead)
            send(first, second, to: &stream)
            #expect(
                isSent(2, second))
        }
        // In the other order as well.
        send(7, to: &stream)
        send(7, to: &dead)
        #expect(isSent(2, 7))
        // Whatever the dead one was sent besides.
        send(8, to: &dead)
        send(7, to: &stream)
        #expect(books.sent(to: 11, filtered: false)?.id == "id8")
    }

    /// A poll has brought the newest one; then a connection begins with the first, and is cut.
    @Test func whoHasOneFromElsewhereHasNotAll() {
        var poll = open(behind: 4)
        send(5, to: &poll)
        books.end(poll)
        var stream = open()
        send(1, 2, to: &stream)
        send(3, 4, 5, to: &stream)
        #expect(starts("id5", lyingAs: 5).map(\.receipt) == [receipt(4, 5)])
        send(6, 7, to: &stream)
        #expect(starts("id7", lyingAs: 7).map(\.receipt) == [receipt(0, 7)])
        #expect(starts("id5", lyingAs: 5).map(\.after) == [4])
        // A poll that has brought all of them has.
        var whole = open()
        send(1, 2, 3, 4, 5, 6, 7, to: &whole)
        books.end(whole)
        #expect(starts("id7", lyingAs: 7).map(\.receipt) == [receipt(0, 7)])
    }

    /// A phone has one message through a filter, and asks for what came behind it without one.
    @Test func whoHasOneThroughAFilterHasNotAll() {
        var stream = open()
        send(1, 2, 3, to: &stream)
        var filtered = open(filtered: true)
        send(3, to: &filtered)
        #expect(starts("id3", lyingAs: 3).map(\.receipt) == [receipt(3, 3)])
        send(4, to: &stream)
        #expect(starts("id4", lyingAs: 4).map(\.receipt) == [receipt(0, 4)])
        #expect(starts("id2", lyingAs: 2).map(\.after) == [2])
    }

    /// The app polls each mailbox by itself, while its connection for all of them is dead.
    @Test func whatCameAloneSaysNothingOfOtherMailboxes() {
        var dead = open(1...2)
        send(1, 2, to: &dead, from: 1)
        send(3, to: &dead)
        #expect(
            starts("id3", lyingAs: 3, in: 1...2).map(\.receipt) == [receipt(0, 3), receipt(0, 3, by: 12)])
        var poll = open(1...1)
        send(3, to: &poll)
        books.end(poll)
        #expect(starts("id3", lyingAs: 3, in: 1...2).map(\.receipt) == [receipt(0, 3), nil])
    }

    /// As ntfy's app subscribes: it polls what lies there, and opens a connection for what comes.
    @Test(arguments: [true, false]) func aPollAndAConnectionAreOne(pollsFirst: Bool) {
        var stream = open(behind: 3)
        var poll = open()
        if pollsFirst {
            send(1, 2, 3, to: &poll)
            books.end(poll)
            stream = open(behind: 3)
        } else {
            send(1, 2, 3, to: &poll)
            books.end(poll)
        }
        send(4, to: &stream)
        #expect(starts("id4", lyingAs: 4).map(\.receipt) == [receipt(0, 4)])
        #expect(stream.receipts(upTo: 4) == [receipt(0, 4)])
    }

    @Test func whatIsAcknowledgedIsNotAcknowledgedAgain() {
        var stream = open()
        send(1, 2, 3, to: &stream)
        #expect(books.takeUnwritten().map(\.reader) == [11])
        #expect(books.takeUnwritten().isEmpty, "it is written")
        stream.acknowledge(upTo: 2)
        books.note(receipt(0, 2))
        #expect(stream.receipts(upTo: 2) == [] && stream.receipts(upTo: 3) == [receipt(2, 3)])
        #expect(isSent(2, 3))
        send(4, to: &stream)
        books.note(receipt(2, 4))
        #expect(books.takeUnwritten().isEmpty, "the store need not know it")
        #expect(starts("id4", lyingAs: nil).map(\.place.number) == [4], "it still knows its place")
    }

    /// What a filter has left out nobody has seen. Its last one still is a place.
    @Test func aFilteredConnectionAcknowledgesNothing() {
        var stream = open(filtered: true)
        send(1, 2, to: &stream)
        #expect(!stream.canAcknowledge && stream.receipts(upTo: 2) == [])
        #expect(books.sent(to: 11, filtered: false) == nil && books.takeUnwritten().isEmpty)
        #expect(books.sent(to: 11, filtered: true) == MailboxSent(after: 2, upTo: 2, id: "id2"))
        books.forget(butTo: [12])
        #expect(books.sent(to: 11, filtered: true) == nil)
    }
}
