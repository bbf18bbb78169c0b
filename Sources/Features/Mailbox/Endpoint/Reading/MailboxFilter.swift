import Encodings

/// A reader's choice of messages. Messages that are left out are not acknowledged.
struct MailboxFilter: Equatable {
    private let id: String?
    private let message: String?
    private let title: String?
    /// The priorities that a message may have; empty: any at all.
    private let priorities: [Int]
    /// The tags that a message must have, all of them.
    private let tags: [String]

    /// Makes the filter of a request; `nil`: there is none.
    init?(
        id: String?, message: String?, title: String?, priorities: String?, tags: String?
    ) throws(MailboxFault) {
        let priorities = try priorities.map(MailboxFilter.priorities) ?? []
        guard id != nil || message != nil || title != nil || !priorities.isEmpty || tags != nil else {
            return nil
        }
        (self.id, self.message, self.title, self.priorities) = (id, message, title, priorities)
        self.tags = (tags ?? "").utf8.split(separator: UInt8(ascii: ",")).map { Substring($0).blankless }
    }

    /// Reads priorities: names and numbers, parted by commas.
    static func priorities(_ list: String) throws(MailboxFault) -> [Int] {
        guard let list = list.word(limit: 100) else { throw .badPriority }
        var priorities: [Int] = []
        for word in list.split(separator: ",") {
            let space = UInt8(ascii: " ")
            switch Substring(word.utf8.drop { $0 == space }.prefix { $0 != space }) {
            case "1", "min": priorities.append(1)
            case "2", "low": priorities.append(2)
            case "3", "default": priorities.append(3)
            case "4", "high": priorities.append(4)
            case "5", "max", "urgent": priorities.append(5)
            case _: throw .badPriority
            }
        }
        return priorities
    }

    /// Whether a line goes to the reader. One that says something of earlier messages is for all who read.
    func takes(_ line: MailboxLine) -> Bool {
        line.event != .message || takes(message: line)
    }

    private func takes(message line: MailboxLine) -> Bool {
        tags.allSatisfy { wanted in line.tags.contains { $0.hasSameBytes(as: wanted) } }
            && id.map { $0.hasSameBytes(as: line.id) } ?? true
            && message.map { $0.hasSameBytes(as: line.message) } ?? true
            && title.map { $0.hasSameBytes(as: line.title ?? "") } ?? true
            && (priorities.isEmpty || priorities.contains(line.priority))
    }
}
