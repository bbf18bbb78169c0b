import Testing

@testable import Relay

@Suite struct LaneShelfTests {
    private static let one = Digest(high: 1, low: 1)
    private static let other = Digest(high: 2, low: 2)

    @Test func aDeviceThatHasNothingThereIsKnown() {
        var shelf = LaneShelf()
        #expect(!shelf.mayHold(Self.one))
        shelf.add(of: Self.one)
        shelf.add(of: Self.one)
        #expect(shelf.mayHold(Self.one) && !shelf.mayHold(Self.other))
        shelf.remove(of: Self.one)
        #expect(shelf.mayHold(Self.one) && shelf.count == 1)
        shelf.add(of: Self.other)
        shelf.remove(of: Self.one)
        #expect(!shelf.mayHold(Self.one) && shelf.mayHold(Self.other))
    }

    @Test func whatIsOfSeveralMakesAllUnknownUntilNothingIsLeft() {
        var shelf = LaneShelf()
        shelf.add(of: Self.one)
        shelf.add(2)
        #expect(shelf.mayHold(Self.other))
        shelf.remove(2)
        // Of whom those were is not known.
        #expect(shelf.mayHold(Self.other) && shelf.count == 1)
        shelf.remove(of: Self.one)
        #expect(!shelf.mayHold(Self.one) && !shelf.mayHold(Self.other))
        shelf.add(of: Self.other)
        #expect(!shelf.mayHold(Self.one))
    }

    /// The count was wrong: more is there than anybody had counted.
    @Test func whatWasNotCountedMakesAllUnknown() {
        var shelf = LaneShelf()
        shelf.add(2, of: Self.one)
        shelf.remove(of: Self.other)
        #expect(shelf.mayHold(Self.other))
        shelf.remove(2)
        #expect(shelf.count == -1 && !shelf.mayHold(Self.one))
        shelf.add(2, of: Self.one)
        #expect(shelf.mayHold(Self.other))
    }

    @Test func noMoreDevicesAreKnownThanMayBe() {
        var shelf = LaneShelf()
        for number in 1...LaneShelf.most { shelf.add(of: Digest(high: UInt64(number), low: 0)) }
        #expect(!shelf.mayHold(Self.other))
        shelf.add(of: Digest(high: 0, low: 0))
        #expect(shelf.mayHold(Self.other) && shelf.count == LaneShelf.most + 1)
    }
}
