import Relay

@testable import MailboxEndpoint
@testable import Persistence

extension MailboxWorld {
    /// Looks what lies in the mailboxes.
    func look() async throws {
        let places = mailboxes.map { MailboxPlace(mailbox: $0, number: 0) }
        var lying: Set<Int64> = []
        for (mailbox, message) in try await store.messages(behind: places, at: 0, limit: 5000) {
            lying.insert(message.number)
            guard known[message.number] == nil else { continue }
            let (name, sequence) = made[message.id]!
            let one = Message(
                id: message.id, mailbox: mailbox, number: message.number, name: name,
                expires: message.expiresAt.milliseconds, sequence: sequence)
            known[message.number] = one
            if let sequence { sequences[sequence] = one }
            isLying.insert(message.number)
        }
        current = lying
    }
    /// Checks what has come to its end, and what is gone.
    ///
    /// - Parameter mayGo: What goes by the rules, whoever has it.
    func end(_ ends: [KeptEnd], mayGo: (Message) -> Bool = { _ in false }) async throws {
        try await look()
        for end in ends {
            guard let message = sequences[end.sequence] else { continue }
            if ended.updateValue(end.ending, forKey: end.sequence) != nil {
                violations.append("\(message.number) ends twice")
            }
            if end.ending == .delivered, !people.contains(where: { $0.has(message.number) }) {
                violations.append("\(message.number) is called delivered, and nobody has it")
            }
            if end.ending == .expired, message.expires > now {
                violations.append("\(message.number) is called expired")
            }
        }
        for number in isLying.subtracting(current) {
            isLying.remove(number)
            let message = known[number]!
            let readers = people.filter { $0.readers[message.mailbox] != nil }
            if mayGo(message) || message.expires <= now || readers.allSatisfy({ $0.has(number) }) { continue }
            violations.append("\(number) is gone, and not all have it")
        }
    }

    /// Everybody fetches what is left, and says so.
    func finish() async throws {
        for person in people {
            for line in lines where line.person === person { try await cut(line) }
            for _ in 1...2 {
                let last = person.received.max { $0.number < $1.number }
                let line = try await open(
                    last.map { .message($0.id) } ?? .all, last?.number, for: person,
                    person.readers.keys.sorted(), at: 0, isPoll: true)
                while lines.contains(where: { $0 === line }), violations.isEmpty {
                    try await send(to: line)
                }
            }
        }
        guard habits == .orderly, violations.isEmpty else { return }
        if !isLying.isEmpty { violations.append("all have all, and \(isLying.sorted()) still lie there") }
        for (sequence, message) in sequences where ended[sequence] != .delivered {
            violations.append("all have \(message.number), and its sender does not know it")
        }
    }

    struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        mutating func isOne(of count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
    }
}
