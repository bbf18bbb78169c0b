import Doors

/// The order in which guesses at the passphrase are judged: one a turn, whatever comes meanwhile.
///
/// A guess costs a hash, and nothing tells the owner's from a stranger's before it is made. So the order is the defence.
/// First come browsers that have entered before, then senders of whom fewest were judged lately, then the newest guess; of
/// programs of one machine in each second turn the oldest, and nobody who has only just come while others wait. Whoever hangs
/// up is not judged. Strangers hear that a guess was wrong when nobody waits any more, one a turn, or after many turns: whoever
/// guesses again as soon as he hears is judged once, is no newer than who comes meanwhile, and never comes in a crowd.
struct PassphraseTurns {
    /// Somebody who guesses, as far as guessers are told apart.
    enum Guesser: Hashable {
        /// One of many whom nothing tells apart: programs of this machine.
        case oneOfMany
        /// A circuit, an address, or a client of a proxy, by its number.
        case sender(Int)
        /// A browser that has entered before, by the digest of its mark.
        case known([UInt8])

        fileprivate var isStranger: Bool {
            switch self {
            case .oneOfMany, .sender: true
            case .known: false
            }
        }
    }

    private struct Guess {
        let id: Int
        let guesser: Guesser
        /// Turns that went to others.
        var passed = 0
    }

    /// The guesses that wait, the oldest first.
    private var guesses: [Guess] = []
    /// Whose the last guesses were that were judged, the oldest first.
    private var judged: [Guesser] = []
    /// Guesses whose answers go out after so many more turns, or one a turn while no guess waits; the oldest first.
    private var held: [(id: Int, turns: Int)] = []
    /// Guesses that gave way, and have no answer yet.
    private var gaveWay: [Int] = []
    private var lastID = 0
    private var turn = 0

    /// The most guesses that wait: more than a listener of the console has connections. One more, and the last in order
    /// gives way.
    static let most = 1600
    /// The turns that a guess waits for at most.
    static let longestWait = 32
    /// One turn of so many is for the oldest of those whom nothing tells apart, the others for the newest.
    private static let oldestEvery = 2
    /// The most turns for which the answer to a wrong guess of a stranger is held.
    static let longestHold = 64
    private static let remembered = 64

    var isEmpty: Bool { guesses.isEmpty && gaveWay.isEmpty && held.isEmpty }

    /// Lets a guess wait.
    ///
    /// - Returns: The number of the guess; `nil`: its guesser has one that waits.
    mutating func add(from guesser: Guesser) -> Int? {
        guard guesser == .oneOfMany || !guesses.contains(where: { $0.guesser == guesser }) else {
            return nil
        }
        lastID += 1
        guesses.append(Guess(id: lastID, guesser: guesser))
        if guesses.count > Self.most,
            let last = last()
        {
            gaveWay.append(guesses.remove(at: last).id)
        }
        return lastID
    }

    /// Forgets a guess: nobody waits for its answer any more.
    mutating func remove(_ id: Int) {
        guesses.removeAll { $0.id == id }
        held.removeAll { $0.id == id }
        gaveWay.removeAll { $0 == id }
    }

    /// Begins a turn.
    ///
    /// - Returns: The guess that is judged, and those whose answers go out now. Those of them that were not judged may come
    ///   again.
    mutating func next() -> (judged: Int?, over: [Int]) {
        var over = gaveWay
        gaveWay = []
        turn += 1
        for index in held.indices { held[index].turns -= 1 }
        over += held.filter { $0.turns <= 0 }.map(\.id)
        held.removeAll { $0.turns <= 0 }
        let isForOldest = turn % Self.oldestEvery == 0
        // Whoever hangs up at once takes no turn from those who wait.
        let settled = guesses.indices.filter { guesses[$0].passed > 0 || guesses[$0].guesser != .oneOfMany }
        let ranks = ranks()
        let first = (settled.isEmpty ? Array(guesses.indices) : settled).min {
            isBefore($0, $1, ranks, oldestFirst: isForOldest)
        }
        let guess = first.map { guesses.remove(at: $0) }
        // Whoever hears now guesses again now. More of them at once would be a crowd, and the owner somewhere in it.
        if guesses.isEmpty, over.isEmpty, !held.isEmpty { over.append(held.removeFirst().id) }
        guard let guess else { return (nil, over) }
        judged.append(guess.guesser)
        if judged.count > Self.remembered { judged.removeFirst() }
        held.append((guess.id, guess.guesser.isStranger ? Self.longestHold : 1))
        for index in guesses.indices { guesses[index].passed += 1 }
        guesses.removeAll {
            guard $0.passed >= Self.longestWait, $0.guesser != .oneOfMany else { return false }
            over.append($0.id)
            return true
        }
        return (guess.id, over)
    }

    private func last() -> Int? {
        let ranks = ranks()
        return guesses.indices.min { isBefore($1, $0, ranks, oldestFirst: false) }
    }

    private func isBefore(_ one: Int, _ other: Int, _ ranks: [Int], oldestFirst: Bool) -> Bool {
        guard ranks[one] == ranks[other] else { return ranks[one] < ranks[other] }
        let areOfMany = guesses[one].guesser == .oneOfMany && guesses[other].guesser == .oneOfMany
        return oldestFirst && areOfMany ? one < other : one > other
    }

    /// Returns the ranks of all that wait, by their guessers: less comes first.
    private func ranks() -> [Int] {
        var counts: [Int: Int] = [:]
        for case .sender(let number) in judged { counts[number, default: 0] += 1 }
        return guesses.map {
            switch $0.guesser {
            case .known: -1
            case .oneOfMany: 0
            case .sender(let number): counts[number] ?? 0
            }
        }
    }
}
