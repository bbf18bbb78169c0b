// Whatever a node, or another trader, tells a reader of a mailbox. Built by Deploy/tools/fuzz. How bytes become frames is
// RegisterFuzz.swift's as well.
@testable import Encodings
@testable import JSONCoding
@testable import Wire

func fuzzReader(_ input: [UInt8]) {
    checkEvent(String(decoding: input, as: UTF8.self))
    guard let json = try? JSON(input) else { return }
    if let fields = json.object {
        check(ReceivedMessage(.trade, fields, trade: "txId", sent: "sentDate"))
    }
    if let book = MailboxBook(json) { checkBook(book) }
}

/// An id goes into the next request's head.
private func checkEvent(_ line: String) {
    guard case .message(let note) = MailboxEvent(line) else { return }
    precondition((1...64).contains(note.id.utf8.count))
    precondition(note.id.utf8.allSatisfy { ASCII.letter($0) | ASCII.digit($0) == 1 })
}

/// Nothing commands a terminal or turns the direction of writing, and all is bounded.
private func check(_ message: ReceivedMessage) {
    for (text, limit) in [(message.title, 200), (message.message, 4000), (message.tradeID, 200)] {
        precondition(text.utf8.count <= limit)
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0A: precondition(limit == 4000)
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: preconditionFailure("a command")
            case _: break
            }
        }
    }
    precondition(message.sentDate >= 0)
}

/// What is kept is read again as the same, and one message more does not break a bound.
private func checkBook(_ known: MailboxBook) {
    var book = known
    book.note(
        MailboxNote(id: "a1", time: 1, text: ""), ReceivedMessage(kind: .trade, title: "a", message: "b"),
        at: 1)
    precondition(book.has("a1") && book.entries.count <= MailboxBook.mostEntries)
    for entry in book.entries { check(entry.message) }
    var erased = book
    erased.note(
        MailboxNote(id: "a2", time: .max, text: ""), ReceivedMessage(kind: .erase, sentDate: 1), at: 1)
    precondition(erased.entries.count <= MailboxBook.mostEntries && erased.has("a2"))
    guard !isCostOnly else { return }
    let bytes = Array(book.json.text.utf8)
    guard let again = (try? JSON(bytes)).flatMap({ MailboxBook($0) }) else {
        preconditionFailure("what was kept can't be read")
    }
    precondition(again == book)
}
