import Crypto
import Reactor
import Testing

@testable import Doors

/// A refusal costs the same work, whatever the node has: how long it takes tells nothing. The work is counted; times are not.
@EventLoop
@Suite struct ConsoleWorkTests {
    private let passphrase = "a passphrase of the owner"

    private func kept(passphrase: String?) throws -> ConsoleEntrance.Kept {
        var kept = ConsoleEntrance.Kept()
        kept.passphrase = try passphrase.map { try PassphraseDigest(of: Secret(Array($0.utf8))) }
        return kept
    }

    @Test func anyTextThatIsNoLinkCostsTheSame() throws {
        let end = ConsoleEntrance.linkLifetime.nanoseconds
        var entrances = [ConsoleEntrance(nil), ConsoleEntrance(try kept(passphrase: nil))]
        for index in entrances.indices {
            var costs: [ConsoleEntrance.Work] = []
            func refuse(_ text: String, at now: Int64) {
                let before = entrances[index].work
                let isSpent = entrances[index].spendLink(text, at: now)
                #expect(!isSpent)
                let after = entrances[index].work
                costs.append(
                    ConsoleEntrance.Work(
                        hashes: after.hashes - before.hashes, digests: after.digests - before.digests,
                        comparisons: after.comparisons - before.comparisons))
            }
            refuse("none", at: 0)
            let first = entrances[index].makeLink(of: Array(repeating: 1, count: 20), at: 0)
            refuse("unknown", at: 0)
            refuse("", at: 0)
            refuse(first + "A", at: 0)
            refuse(first, at: end)
            let second = entrances[index].makeLink(of: Array(repeating: 2, count: 20), at: 0)
            refuse(first, at: 0)
            let isSpent = entrances[index].spendLink(second, at: end - 1)
            #expect(isSpent)
            refuse(second, at: end - 1)
            #expect(costs.count == 7)
            #expect(costs.allSatisfy { $0 == ConsoleEntrance.Work(hashes: 0, digests: 1, comparisons: 1) })
        }
    }

    @Test func anyTextThatIsNoPassphraseCostsTheSame() async throws {
        let nodes = [nil, try kept(passphrase: nil), try kept(passphrase: passphrase)]
        for (number, kept) in nodes.enumerated() {
            let entry = ConsoleEntry(kept) { _ in }
            guard case .refused = await entry.enter(byPassphrase: "something else", from: 1) else {
                Issue.record("node \(number) let in")
                continue
            }
            #expect(entry.work == ConsoleEntrance.Work(hashes: 1, digests: 0, comparisons: 2), "\(number)")
        }
        // The right one does no other work, and where none is set no text is right.
        for (kept, isRight) in [(nodes[1], false), (nodes[2], true)] {
            let entry = ConsoleEntry(kept) { _ in }
            let answer = await entry.enter(byPassphrase: passphrase, from: 1)
            if case .entered = answer { #expect(isRight) } else { #expect(!isRight) }
            #expect(entry.work == ConsoleEntrance.Work(hashes: 1, digests: 0, comparisons: 2))
        }
    }
}
