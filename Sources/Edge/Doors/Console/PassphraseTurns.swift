/// The order in which guesses at the passphrase are judged: one a turn, whatever comes meanwhile.
///
/// A guess costs a hash, and nothing tells the owner's from a stranger's before it is made. So the order is the defence.
/// First come browsers that have entered before, then senders of whom fewest were judged lately, then the newest guess. Whoever
/// guesses on and on has been judged, and waits behind whoever comes for the first time; programs of one machine, which
/// nothing tells apart, hear an answer only when the next turn has begun, so the guess that follows it is not the newest.
struct PassphraseTurns {
    /// Somebody who guesses, as far as guessers are told apart.
    enum Guesser: Hashable {
        /// One of many whom nothing tells apart: programs of this machine.
        case oneOfMany
        /// A circuit, an address, or a client of a proxy, by its number.
        case sender(Int)
        /// A browser that has entered before, by the digest of its mark.
        case known([UInt8])
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
    /// Guesses that gave way, and have no answer yet.
    private var gaveWay: [Int] = []
    private var lastID = 0

    /// The most guesses that wait. One more, and the last in order gives way.
    static let most = 64
    /// The turns that a guess waits for at most. One of many whom nothing tells apart is asked to come again sooner: it is
    /// the newest then.
    static let longestWait = 32
    static let longestWaitOfMany = 2
    private static let remembered = 64

    var isEmpty: Bool { guesses.isEmpty && gaveWay.isEmpty }

    /// Lets a guess wait.
    ///
    /// - Returns: The number of the guess; `nil`: its guesser has one that waits.
    mutating func add(from guesser: Guesser) -> Int? {
        guard guesser == .oneOfMany || !guesses.contains(where: { $0.guesser == guesser }) else {
            return nil
        }
        lastID += 1
        guesses.append(Guess(id: lastID, guesser: guesser))
        if guesses.count > Self.most, let last = guesses.indices.min(by: { isBefore($1, $0) }) {
            gaveWay.append(guesses.remove(at: last).id)
        }
        return lastID
    }

    /// Begins a turn.
    ///
    /// - Returns: The guess that is judged, and those that are judged no more: they may come again.
    mutating func next() -> (judged: Int?, over: [Int]) {
        var over = gaveWay
        gaveWay = []
        guard let first = guesses.indices.min(by: { isBefore($0, $1) }) else { return (nil, over) }
        let guess = guesses.remove(at: first)
        judged.append(guess.guesser)
        if judged.count > Self.remembered { judged.removeFirst() }
        for index in guesses.indices { guesses[index].passed += 1 }
        guesses.removeAll {
            let most = $0.guesser == .oneOfMany ? Self.longestWaitOfMany : Self.longestWait
            guard $0.passed >= most else { return false }
            over.append($0.id)
            return true
        }
        return (guess.id, over)
    }

    private func isBefore(_ one: Int, _ other: Int) -> Bool {
        let (a, b) = (rank(of: guesses[one].guesser), rank(of: guesses[other].guesser))
        return a == b ? one > other : a < b
    }

    /// Returns the rank of a guesser: less comes first.
    private func rank(of guesser: Guesser) -> Int {
        switch guesser {
        case .known: -1
        case .oneOfMany: 0
        case .sender: judged.count { $0 == guesser }
        }
    }
}
