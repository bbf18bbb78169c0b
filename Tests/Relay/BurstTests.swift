import Testing

@testable import Relay

/// A sender that comes once only brings more than its phone's rate: it is stored, and goes out at the pace.
@Suite struct BurstTests {
    private func submission(_ number: Int, mayWait: Bool, by circuit: Int = 1) -> Submission {
        var submission = Sample.android("\(number)")
        submission.mayWait = mayWait
        submission.sender = SenderID(circuit)
        return submission
    }

    /// Bisq 1 sends nine within two seconds, and the last is ERASE.
    @Test func nineAtOnceAreAllStoredAndLeaveAtThePace() throws {
        let node = Node()
        for number in 0..<9 { #expect(node.accept(submission(number, mayWait: true)) == Int64(number) + 1) }
        var left: [(sequence: Int64, second: Int)] = []
        for second in 0..<10 {
            while let handle = node.send() {
                left.append((handle.sequence, second))
                node.end(handle, .accepted)
            }
            node.pass(.seconds(1))
        }
        #expect(left.map(\.sequence) == Array(1...9))
        #expect(left.map(\.second) == [0, 0, 0, 0, 0, 1, 2, 3, 4])
    }

    @Test func whoRepeatsIsToldToComeAgain() {
        let node = Node()
        for number in 0..<5 { #expect(node.accept(submission(number, mayWait: false)) > 0) }
        guard case .answered(.busy(.device)) = node.submit(submission(5, mayWait: false)) else {
            return #expect(Bool(false))
        }
    }

    /// One that fails holds up those behind it, as always.
    @Test func thePaceChangesNoOrder() throws {
        let node = Node()
        for number in 0..<7 { node.accept(submission(number, mayWait: true)) }
        node.end(
            try #require(node.send()),
            .deferred(Deferral(reason: "r", scope: .device, retryAfter: .seconds(60))))
        node.pass(.seconds(59))
        #expect(node.send() == nil)
        node.pass(.seconds(1))
        var left: [Int64] = []
        while let handle = node.send() {
            left.append(handle.sequence)
            node.end(handle, .accepted)
        }
        #expect(left == Array(1...7))
    }
}
