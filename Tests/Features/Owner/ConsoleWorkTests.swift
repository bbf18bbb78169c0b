import Clocks
import Crypto
import Reactor
import Testing

@testable import Doors
@testable import Owner

/// A refusal costs the same work, whatever the node has: how long it takes tells nothing. The work is counted; times are not.
@EventLoop
@Suite struct ConsoleWorkTests {
    private let passphrase = "a passphrase of the owner"

    private func saved(passphrase: String?) throws -> ConsoleAccess.Saved {
        var saved = ConsoleAccess.Saved()
        saved.passphrase = try passphrase.map { try PassphraseDigest(of: Secret(Array($0.utf8))) }
        return saved
    }

    @Test func anyTextThatIsNoLinkCostsTheSame() throws {
        let end = MonotonicTime(nanoseconds: 0) + ConsoleAccess.linkLifetime
        var accesses = [ConsoleAccess(nil), ConsoleAccess(try saved(passphrase: nil))]
        for index in accesses.indices {
            var costs: [ConsoleAccess.Work] = []
            func refuse(_ text: String, at now: MonotonicTime) {
                let before = accesses[index].work
                let isSpent = accesses[index].spendLink(text, at: now)
                #expect(!isSpent)
                let after = accesses[index].work
                costs.append(
                    ConsoleAccess.Work(
                        hashes: after.hashes - before.hashes, digests: after.digests - before.digests,
                        comparisons: after.comparisons - before.comparisons))
            }
            refuse("none", at: 0)
            let first = accesses[index].makeLink(of: Array(repeating: 1, count: 20), at: 0)
            refuse("unknown", at: 0)
            refuse("", at: 0)
            refuse(first + "A", at: 0)
            refuse(first, at: end)
            let second = accesses[index].makeLink(of: Array(repeating: 2, count: 20), at: 0)
            refuse(first, at: 0)
            let isSpent = accesses[index].spendLink(second, at: end - .nanoseconds(1))
            #expect(isSpent)
            refuse(second, at: end - .nanoseconds(1))
            #expect(costs.count == 7)
            #expect(costs.allSatisfy { $0 == ConsoleAccess.Work(hashes: 0, digests: 1, comparisons: 1) })
        }
    }

    /// Where no passphrase is set nothing is hashed; the answer goes out at the end of a turn, as everywhere.
    @Test func aWrongTextIsHashedOnlyWhereAPassphraseIsSet() async throws {
        let none = ConsoleAccess.Work()
        let one = ConsoleAccess.Work(hashes: 1, digests: 0, comparisons: 2)
        let nodes = [
            (nil, none), (try saved(passphrase: nil), none), (try saved(passphrase: passphrase), one),
        ]
        for (number, (saved, work)) in nodes.enumerated() {
            let login = ConsoleLogin(saved) { _ in }
            guard case .refused = await login.enter(byPassphrase: "something else", showing: nil, from: 1)
            else {
                Issue.record("node \(number) let in")
                continue
            }
            #expect(login.work == work, "\(number)")
        }
        // The right one does no other work, and where none is set no text is right.
        for (saved, work, isRight) in [(nodes[1].0, none, false), (nodes[2].0, one, true)] {
            let login = ConsoleLogin(saved) { _ in }
            let answer = await login.enter(byPassphrase: passphrase, showing: nil, from: 1)
            if case .entered = answer { #expect(isRight) } else { #expect(!isRight) }
            #expect(login.work == work)
        }
    }

    /// Strangers, each as often as they like, at a login on one loop: one guess is hashed a turn.
    @Test func aBrowserThatHasEnteredBeforeHasAShareThatStrangersCannotUse() async throws {
        let login = ConsoleLogin(try saved(passphrase: passphrase)) { _ in }
        guard case .entered(_, let mark) = await login.enter(byPassphrase: passphrase, showing: nil, from: 1)
        else {
            Issue.record("not let in")
            return
        }
        #expect(login.isMark(mark) && !login.isSession(mark) && !login.isMark("none"))
        // From the circuit of somebody who has used up its share.
        while case .refused = await login.enter(byPassphrase: "wrong", showing: nil, from: 7) {}
        guard case .later = await login.enter(byPassphrase: passphrase, showing: "none", from: 7) else {
            Issue.record("a made-up mark has a share")
            return
        }
        guard case .entered(_, let next) = await login.enter(byPassphrase: passphrase, showing: mark, from: 7)
        else {
            Issue.record("the mark has no share")
            return
        }
        // One browser has one mark.
        #expect(login.isMark(next) && !login.isMark(mark))
    }
}
