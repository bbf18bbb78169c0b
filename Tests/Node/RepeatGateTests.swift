import Testing

@testable import Node

@Suite struct RepeatGateTests {
    @Test func fiveOfAMinutePassAndTheNextMinuteTellsTheRest() {
        var gate = RepeatGate()
        #expect((0..<8).map { gate.pass("a", at: 100 + $0) } == [0, 0, 0, 0, 0, nil, nil, nil])
        #expect(gate.pass("a", at: 159) == nil)
        #expect(gate.pass("a", at: 160) == 4)
        #expect(gate.pass("a", at: 161) == 0)
        #expect(gate.pass("a", at: 300) == 0)
    }

    @Test func otherLinesPass() {
        var gate = RepeatGate()
        for _ in 0..<9 { _ = gate.pass("a", at: 1) }
        #expect(gate.pass("b", at: 1) == 0)
    }

    @Test func aClockThatWentBackHoldsNothingBack() {
        var gate = RepeatGate()
        for _ in 0..<9 { _ = gate.pass("a", at: 1_000_000) }
        #expect(gate.pass("a", at: 10) == 4)
    }

    /// However many different lines there are, they take little room, and none is lost for it.
    @Test func tooManyDifferentLinesPass() {
        var gate = RepeatGate()
        for number in 0..<1000 { #expect(gate.pass("\(number)", at: 5) == 0) }
        for _ in 0..<9 { #expect(gate.pass("999", at: 6) == 0) }
        #expect((0..<9).map { _ in gate.pass("7", at: 6) }.last == .some(nil))
        // Later there is room again.
        for _ in 0..<9 { _ = gate.pass("999", at: 70) }
        #expect(gate.pass("999", at: 70) == nil)
    }
}
