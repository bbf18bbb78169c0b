import Clocks
import Testing

@testable import Relay

/// What a sender brings and the outbox does not store takes nothing from the sender's shares.
@Suite struct UnstoredSharesTests {
    private static let client = SenderID(1)

    private func node(identities: Int = 2_000_000, waiting: Int = 100_000) -> Node {
        var limits = Admission.Limits()
        limits.identities = identities
        limits.waiting = waiting
        let node = Node(limits: limits)
        _ = node.pipeline.add(Node.android)
        return node
    }

    private func submission(_ number: Int) -> Submission {
        var submission = Sample.android("\(number)", token: Sample.token(number))
        submission.sender = Self.client
        return submission
    }

    /// A submission whose commit fails.
    private func fail(_ node: Node, _ number: Int) throws {
        guard case .storing = node.submit(submission(number)) else {
            throw Refused(number: number)
        }
        node.begin()
        node.pipeline.commitFailed(.full, at: node.now)
        _ = node.takeEffects()
        node.pass(.seconds(2))
    }

    private struct Refused: Error { let number: Int }

    /// While the disk is full clients come again and again.
    @Test func aSendersShareOfTheIdentitiesCountsWhatWasStored() throws {
        let node = node(identities: 1600)
        for number in 0..<1000 { try fail(node, number) }
        #expect(node.accept(submission(5000)) > 0)
        for number in 6000..<6799 { #expect(node.accept(submission(number)) > 0) }
        #expect(node.accept(submission(7000)) == 0, "half of all, and more than a sixteenth")
    }

    @Test func whatIsKnownAlreadyTakesNoShare() {
        let node = node(identities: 1600)
        for number in 0..<1000 {
            #expect(node.accept(submission(number), result: .alreadyEnded(.delivered)) == 0)
        }
        #expect(node.accept(submission(5000)) > 0)
    }

    @Test func aSendersShareOfALaneCountsWhatWasStored() throws {
        let node = node(waiting: 1000)
        for number in 0..<20 { node.accept(Sample.android("a\(number)", token: Sample.token(number))) }
        for number in 100..<200 { try fail(node, number) }
        #expect(!node.pipeline.delivery.hasMuch(of: Self.client, in: node.pipeline.lane(Node.android)))
        for number in 200..<216 { #expect(node.accept(submission(number)) > 0) }
        #expect(node.pipeline.delivery.hasMuch(of: Self.client, in: node.pipeline.lane(Node.android)))
    }
}
