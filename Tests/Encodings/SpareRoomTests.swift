import Encodings
import Testing

@Suite struct SpareRoomTests {
    /// An eighth is used, and one less.
    @Test func aTableThatIsNearlyEmptyGivesItsRoomBack() {
        var list = Array(repeating: UInt64(7), count: 1 << 16)
        let room = list.capacity
        list.removeLast((1 << 16) - room / 8)
        list.giveBackRoom()
        #expect(list.capacity == room)
        list.removeLast()
        list.giveBackRoom()
        #expect(list.capacity < room / 4)
        #expect(list == Array(repeating: 7, count: room / 8 - 1))
    }

    @Test func aDictionaryThatIsNearlyEmptyGivesItsRoomBack() {
        var table = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ($0, $0) })
        for key in 10..<100_000 { table[key] = nil }
        table.giveBackRoom()
        #expect(table.capacity < 100)
        #expect(table == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, $0) }))
    }

    /// What comes from day to day finds room, and no table is made anew for it.
    @Test func aSmallTableKeepsItsRoom() {
        var list = Array(repeating: UInt8(7), count: SpareRoom.kept / 2)
        let room = list.capacity
        list.empty()
        list.giveBackRoom()
        #expect(list.isEmpty)
        #expect(list.capacity == room)
    }

    @Test func aTableThatIsEmptiedKeepsNoMoreThanItMay() {
        var list = Array(repeating: UInt8(7), count: 4 * SpareRoom.kept)
        list.empty()
        #expect(list.capacity == 0)
    }
}
