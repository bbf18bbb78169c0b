/// How often each word was said. Some words come from outside: at most 64 different ones are counted, those beyond count as
/// `other`.
package struct WordCounts: Equatable, Sendable {
    package static let most = 64
    package static let other = "other"

    package private(set) var counts: [String: Int] = [:]

    package init() {}

    package mutating func add(_ word: String, _ count: Int = 1) {
        let isKnown = counts[word] != nil || counts.count < WordCounts.most
        counts[isKnown ? word : WordCounts.other, default: 0] += count
    }

    package mutating func add(_ others: WordCounts) {
        for (word, count) in others.counts { add(word, count) }
    }

    package var total: Int { counts.values.reduce(0, +) }
    package var isEmpty: Bool { counts.isEmpty }

    package subscript(word: String) -> Int { counts[word] ?? 0 }

    /// The counts in the order of the words.
    package var sorted: [(word: String, count: Int)] {
        counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
