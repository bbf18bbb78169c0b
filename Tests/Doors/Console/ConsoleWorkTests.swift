import Clocks
import Crypto
import Reactor
import Testing

@testable import Doors

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

    @Test func anyTextThatIsNoPassphraseCostsTheSame() async throws {
        let nodes = [nil, try saved(passphrase: nil), try saved(passphrase: passphrase)]
        for (number, saved) in nodes.enumerated() {
            let login = ConsoleLogin(saved) { _ in }
            guard case .refused = await login.enter(byPassphrase: "something else", from: 1) else {
                Issue.record("node \(number) let in")
                continue
            }
            #expect(login.work == ConsoleAccess.Work(hashes: 1, digests: 0, comparisons: 2), "\(number)")
        }
        // The right one does no other work, and where none is set no text is right.
        for (saved, isRight) in [(nodes[1], false), (nodes[2], true)] {
            let login = ConsoleLogin(saved) { _ in }
            let answer = await login.enter(byPassphrase: passphrase, from: 1)
            if case .entered = answer { #expect(isRight) } else { #expect(!isRight) }
            #expect(login.work == ConsoleAccess.Work(hashes: 1, digests: 0, comparisons: 2))
        }
    }
}
