import Clocks
import JSONCoding
import Relay
import Testing

@testable import Dispatching

@Suite struct RingsTests {
    private static let lane = LaneID(app: "android", host: .production)

    private func ring(
        _ number: Int, of device: UInt64 = 1, _ outcome: Rings.Ring.Outcome = .delivered
    ) -> Rings.Ring {
        Rings.Ring(
            at: UnixTime(milliseconds: Int64(number) * 1000), sequence: Int64(number),
            device: Digest(high: device, low: device), lane: Self.lane, door: "bisq1", outcome: outcome,
            reason: nil,
            taken: 40)
    }

    @Test func theLastOfThemAreKept() {
        var rings = Rings()
        for number in 1...Rings.most + 70 { rings.add(ring(number)) }
        #expect(rings.all.map(\.sequence) == (71...Int64(Rings.most + 70)).reversed())
    }

    /// One device may have the whole list, and no other phone's last ring.
    @Test func aFloodTakesNoPhonesLastRingAway() {
        var rings = Rings()
        let mine = Digest(high: 2, low: 2)
        rings.watch([mine])
        rings.add(ring(1, of: 2))
        for number in 2...1000 { rings.add(ring(number, of: 3)) }
        #expect(!rings.all.contains { $0.device == mine })
        #expect(rings.last(of: mine)?.sequence == 1)
        #expect(rings.last(of: Digest(high: 3, low: 3)) == nil, "nobody watches it")
        // The book changes, and the phone stays in it.
        rings.watch([mine, Digest(high: 4, low: 4)])
        #expect(rings.last(of: mine)?.sequence == 1)
        rings.watch([])
        #expect(rings.last(of: mine) == nil)
    }

    @Test func whatAMailboxKeptHasItsEndLater() throws {
        var rings = Rings()
        rings.watch([Digest(high: 1, low: 1)])
        rings.add(ring(5, .kept))
        rings.add(ring(6, of: 9))
        rings.end(5, .delivered, at: UnixTime(milliseconds: 65_000))
        let end = try #require(rings.all.last)
        #expect(end.outcome == .delivered)
        #expect(end.at == UnixTime(milliseconds: 65_000) && end.taken == 60_040)
        #expect(rings.last(of: Digest(high: 1, low: 1)) == end)
        // The same again, and one that is not in the list, change nothing.
        let before = rings.all
        rings.end(5, .expired, at: 0)
        rings.end(77, .expired, at: 0)
        #expect(rings.all == before)
    }

    @Test func refusalsOfOneReasonAreOneLine() {
        var rings = Rings()
        for number in 1...5000 {
            rings.refuse("BadDeviceToken", at: "bisq1", at: UnixTime(milliseconds: Int64(number)))
        }
        rings.refuse("BadMessage", at: "peer", at: UnixTime(milliseconds: 6000))
        #expect(rings.refused.map(\.reason) == ["BadMessage", "BadDeviceToken"])
        #expect(rings.refused.map(\.count) == [1, 5000])
        #expect(rings.refused.last?.at == UnixTime(milliseconds: 5000))
        for number in 0..<500 { rings.refuse("word \(number)", at: "gorush", at: 0) }
        #expect(rings.refused.count == 64)
        #expect(rings.all.isEmpty)
    }

    @Test func theListIsTheSameAfterARestartInPlace() throws {
        var rings = Rings()
        rings.watch([Digest(high: 2, low: 2)])
        rings.add(ring(1, of: 2))
        for number in 2...Rings.most + 9 { rings.add(ring(number, of: .max, .kept)) }
        rings.refuse("UnknownApp", at: "peer", at: UnixTime(milliseconds: 7))
        var after = try #require(Rings(rings.note))
        #expect(after.all == rings.all && after.refused == rings.refused)
        after.watch([Digest(high: 2, low: 2)])
        #expect(after.last(of: Digest(high: 2, low: 2)) == rings.last(of: Digest(high: 2, low: 2)))
    }

    /// Whoever starts a node may hand it anything.
    @Test(arguments: [
        "{}", "[]", #"{"rings":[],"last":[],"refused":1}"#, #"{"rings":[{}],"last":[],"refused":[]}"#,
        #"{"rings":[],"last":[{"at":1}],"refused":[]}"#,
        #"{"rings":[],"last":[],"refused":[{"door":"a","reason":"b","count":-1,"at":0}]}"#,
    ])
    func whatIsNoListIsNotTaken(text: String) throws {
        #expect(Rings(try JSON(Array(text.utf8))) == nil)
    }
}
