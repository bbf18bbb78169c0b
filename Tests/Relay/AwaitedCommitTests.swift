import Clocks
import Testing

@testable import Relay

/// Which commits a power cut must not lose: those of which somebody hears.
@Suite struct AwaitedCommitTests {
    /// Whether the commit that begins now is awaited; its changes have taken effect then.
    private func isAwaited(_ node: Node, _ results: [StoreResult] = []) -> Bool {
        node.begin()
        defer { node.commit(results) }
        return node.pipeline.isCommitAwaited
    }

    @Test func theEndOfWhatNobodyAwaitsIsNotAwaited() throws {
        let node = Node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .accepted)
        #expect(!isAwaited(node))
    }

    @Test func theEndThatASenderHearsOfIsAwaited() throws {
        let node = Node()
        _ = node.submit(Sample.android(), awaitsOutcome: true)
        #expect(isAwaited(node, [.stored(sequence: node.number())]))
        node.end(try #require(node.send()), .accepted)
        #expect(isAwaited(node))
    }

    @Test func anEndBesideSomethingThatIsStoredIsAwaited() throws {
        let node = Node()
        node.accept(Sample.android("1"))
        node.end(try #require(node.send()), .accepted)
        _ = node.submit(Sample.android("2"))
        #expect(isAwaited(node, [.stored(sequence: node.number())]))
    }

    /// A sender comes again while the end of the first is being written.
    @Test func anEndThatARepetitionHearsOfIsAwaited() throws {
        let node = Node()
        node.accept(Sample.android())
        let handle = try #require(node.send())
        _ = node.submit(Sample.android(), awaitsOutcome: true)
        node.begin()
        node.end(handle, .accepted)
        node.commit([.alreadyWaiting(sequence: 1)])
        #expect(isAwaited(node))
    }

    /// What is more than an end: a dead token stays dead.
    @Test func aDeadTokenIsAwaited() throws {
        let node = Node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .tokenDead(reason: "Unregistered", since: nil))
        #expect(isAwaited(node))
    }

    @Test func whatBringsTheOutboxBackIsAwaited() throws {
        let node = Node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .accepted)
        node.begin()
        node.pipeline.commitFailed(.full, at: node.now)
        #expect(isAwaited(node))
    }
}
