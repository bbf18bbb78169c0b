import Testing

@testable import Doors
@testable import Owner

/// Whose guess at the passphrase is judged next, by value: a turn is a step, and nobody waits for a clock.
@Suite struct PassphraseTurnsTests {
    /// Guessers who guess again as soon as they hear an answer, and an owner who comes again when asked to.
    private struct Siege {
        var turns = PassphraseTurns()
        var whose: [Int: PassphraseTurns.Guesser] = [:]
        var owners: Int?

        mutating func guess(_ guesser: PassphraseTurns.Guesser) {
            if let id = turns.add(from: guesser) { whose[id] = guesser }
        }

        /// One turn: the owner comes while it lasts, unless he waits already.
        ///
        /// - Returns: Whether the owner's guess was judged.
        mutating func pass(
            owner: PassphraseTurns.Guesser?, fresh: (PassphraseTurns.Guesser) -> PassphraseTurns.Guesser
        ) -> Bool {
            let (judged, over) = turns.next()
            if judged != nil, judged == owners { return true }
            for id in over {
                if id == owners { owners = nil }
                if let guesser = whose.removeValue(forKey: id) { guess(fresh(guesser)) }
            }
            if let owner, owners == nil { owners = turns.add(from: owner) }
            return false
        }
    }

    private func turnsUntilTheOwnerIsIn(
        _ siege: inout Siege, as owner: PassphraseTurns.Guesser,
        fresh: (PassphraseTurns.Guesser) -> PassphraseTurns.Guesser = { $0 }
    ) -> Int {
        for turn in 1...100 where siege.pass(owner: owner, fresh: fresh) { return turn }
        return 101
    }

    /// Circuits that are told apart: whoever has not been judged comes before those who have.
    @Test func anOwnerOnANewCircuitComesNextWhoeverGuesses() {
        for quietTurns in [0, 1, 5, 40, 100] {
            var siege = Siege()
            for circuit in 1...34 { siege.guess(.sender(circuit)) }
            for _ in 0..<quietTurns { _ = siege.pass(owner: nil, fresh: { $0 }) }
            #expect(turnsUntilTheOwnerIsIn(&siege, as: .sender(1000)) <= 2, "after \(quietTurns) turns")
        }
    }

    /// A stranger who has a new circuit for each guess.
    @Test func anOwnerComesNextThoughEachGuessHasACircuitOfItsOwn() {
        var siege = Siege()
        var last = 100
        for circuit in 1...34 { siege.guess(.sender(circuit)) }
        let renewed: (PassphraseTurns.Guesser) -> PassphraseTurns.Guesser = { _ in
            last += 1
            return .sender(last)
        }
        for _ in 0..<50 { _ = siege.pass(owner: nil, fresh: renewed) }
        #expect(turnsUntilTheOwnerIsIn(&siege, as: .sender(50), fresh: renewed) <= 2)
    }

    /// Programs of one machine: nothing tells the owner's browser from them. At whatever time it comes, it is in within ten
    /// seconds, which are sixteen turns.
    @Test(arguments: [1, 8, 10, 34, 64]) func anOwnerBesideLocalProgramsIsJudgedSoon(programs: Int) {
        for quietTurns in 0..<150 {
            var siege = Siege()
            for _ in 0..<programs { siege.guess(.oneOfMany) }
            for _ in 0..<quietTurns { _ = siege.pass(owner: nil, fresh: { $0 }) }
            #expect(turnsUntilTheOwnerIsIn(&siege, as: .oneOfMany) <= 5, "after \(quietTurns) turns")
        }
    }

    /// The browser comes while answers go out: half of those who hear have guessed again before it, half have not.
    @Test(arguments: [1, 8, 34, 64]) func anOwnerWhoComesAmidThoseWhoWereAnsweredIsJudgedSoon(programs: Int) {
        for quietTurns in 0..<150 {
            var siege = Siege()
            for _ in 0..<programs { siege.guess(.oneOfMany) }
            for _ in 0..<(programs + quietTurns) { _ = siege.pass(owner: nil, fresh: { $0 }) }
            var turns = 0
            var owner: Int?
            for _ in 0..<200 {
                if owner != nil { turns += 1 }
                let (judged, over) = siege.turns.next()
                if judged != nil, judged == owner { break }
                for (index, id) in over.enumerated() where siege.whose.removeValue(forKey: id) != nil {
                    if owner == nil, index >= over.count / 2 { owner = siege.turns.add(from: .oneOfMany) }
                    siege.guess(.oneOfMany)
                }
            }
            #expect(owner != nil && turns <= 5, "after \(quietTurns) turns")
        }
    }

    /// The browser comes in the same moment as all others, and is the first of them.
    @Test(arguments: [1, 8, 34, 64]) func anOwnerWhoComesJustBeforeTheOthersIsJudgedSoon(programs: Int) {
        for turns in 0..<8 {
            var siege = Siege()
            for _ in 0..<turns {
                siege.guess(.oneOfMany)
                _ = siege.pass(owner: nil, fresh: { $0 })
            }
            siege.owners = siege.turns.add(from: .oneOfMany)
            for _ in 0..<programs { siege.guess(.oneOfMany) }
            #expect(turnsUntilTheOwnerIsIn(&siege, as: .oneOfMany) <= 5, "after \(turns) turns")
        }
    }

    /// One who has mistyped hears it at once where nobody else guesses.
    @Test func aWrongGuessIsAnsweredWhenNobodyElseWaits() {
        var turns = PassphraseTurns()
        let one = turns.add(from: .oneOfMany)
        let (judged, over) = turns.next()
        #expect(judged == one && over.isEmpty)
        let next = turns.next()
        #expect(next.judged == nil && next.over == [one])
        #expect(turns.isEmpty)
    }

    /// One who has mistyped beside others who guess hears it when each of them was judged once, or after the longest time that a
    /// wrong guess is held: both are a few turns more with the owner's own.
    @Test(arguments: [1, 8, 34, 64, 100])
    func aWrongGuessBesideOthersIsAnsweredWhenTheyWereJudged(programs: Int) {
        var siege = Siege()
        for _ in 0..<programs { siege.guess(.oneOfMany) }
        for _ in 0..<20 { _ = siege.pass(owner: nil, fresh: { $0 }) }
        let own = siege.turns.add(from: .oneOfMany)
        var turns = 0
        while turns < 1000 {
            turns += 1
            let (_, over) = siege.turns.next()
            if over.contains(where: { $0 == own }) { break }
            for id in over where siege.whose.removeValue(forKey: id) != nil { siege.guess(.oneOfMany) }
        }
        #expect(turns <= min(programs, PassphraseTurns.longestHold) + 6)
    }

    @Test func theGuessOfOneWhoHungUpIsNotJudged() {
        var turns = PassphraseTurns()
        let gone = [PassphraseTurns.Guesser.oneOfMany, .sender(1), .known([1])].compactMap {
            turns.add(from: $0)
        }
        for id in gone { turns.remove(id) }
        #expect(gone.count == 3 && turns.isEmpty)
        // Whoever was told apart may guess again at once.
        let again = turns.add(from: .sender(1))
        let judged = turns.next().judged
        #expect(again != nil && judged == again)
        if let again { turns.remove(again) }
        #expect(turns.isEmpty)
    }

    /// Programs that send their guess and hang up, at once or a moment later, as fast as they can; some of them wait.
    @Test(arguments: [0, 1, 34], [1, 20, 100])
    func anOwnerBesideThoseWhoHangUpIsJudgedSoon(waiting: Int, hangingUp: Int) {
        for quietTurns in [0, 1, 40] {
            var siege = Siege()
            for _ in 0..<waiting { siege.guess(.oneOfMany) }
            var brief: [Int] = []
            func renew() {
                for id in brief { siege.turns.remove(id) }
                brief = (0..<hangingUp).compactMap { _ in siege.turns.add(from: .oneOfMany) }
            }
            for _ in 0..<(waiting + quietTurns) {
                renew()
                _ = siege.pass(owner: nil, fresh: { $0 })
            }
            var turns = 0
            repeat {
                turns += 1
                renew()
            } while !siege.pass(owner: .oneOfMany, fresh: { $0 }) && turns < 100
            #expect(turns <= 6, "after \(quietTurns) turns")
        }
    }

    @Test func aBrowserThatHasEnteredBeforeComesBeforeAllStrangers() {
        var turns = PassphraseTurns()
        let known = turns.add(from: .known([1]))
        for circuit in 1...200 { _ = turns.add(from: .sender(circuit)) }
        for _ in 1...200 { _ = turns.add(from: .oneOfMany) }
        let first = turns.next().judged
        #expect(known != nil && first == known)
    }

    @Test func eachGuesserWhoIsToldApartHasOnePlace() {
        var turns = PassphraseTurns()
        for guesser in [PassphraseTurns.Guesser.sender(1), .known([1])] {
            let (one, other) = (turns.add(from: guesser), turns.add(from: guesser))
            #expect(one != nil && other == nil)
        }
        let (one, other) = (turns.add(from: .oneOfMany), turns.add(from: .oneOfMany))
        #expect(one != nil && other != nil)
    }

    /// Nobody waits for ever: each guess ends, by a judgement or by being asked to come again.
    @Test func eachGuessEnds() {
        var turns = PassphraseTurns()
        var open: Set<Int> = []
        let count = PassphraseTurns.most + 100
        for circuit in 1...count {
            if let id = turns.add(from: circuit % 3 == 0 ? .oneOfMany : .sender(circuit)) { open.insert(id) }
        }
        #expect(open.count == count)
        var steps = 0
        while !turns.isEmpty, steps < 2 * PassphraseTurns.most {
            for id in turns.next().over {
                let wasOpen = open.remove(id) != nil
                #expect(wasOpen, "ended twice")
            }
            steps += 1
        }
        #expect(open.isEmpty && steps <= PassphraseTurns.most + PassphraseTurns.longestHold)
    }
}
