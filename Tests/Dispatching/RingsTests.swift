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
        var after = try #require(Rings(lines: rings.lines()))
        #expect(after.all == rings.all && after.refused == rings.refused)
        after.watch([Digest(high: 2, low: 2)])
        #expect(after.last(of: Digest(high: 2, low: 2)) == rings.last(of: Digest(high: 2, low: 2)))
    }

    /// Whoever starts a node may hand it anything.
    @Test(arguments: [
        "{}", "[]", "1", #"{"at":1}"#, #"{"last":true,"at":1}"#,
        #"{"door":"a","refused":"b","count":-1,"at":0}"#, #"{"door":"a","refused":1,"count":1,"at":0}"#,
    ])
    func whatIsNoListIsNotTaken(text: String) throws {
        #expect(Rings(lines: Array(text.utf8)) == nil)
        var rings = Rings()
        rings.add(ring(1))
        #expect(Rings(lines: rings.lines() + Array(text.utf8)) == nil)
    }

    @Test func aListOnDiskIsReadPageByPage() throws {
        var rings = Rings(room: Rings.mostOnDisk)
        for number in 1...Rings.mostOnDisk + 50 { rings.add(ring(number)) }
        let read = try #require(Rings(lines: rings.lines(), room: Rings.mostOnDisk))
        #expect(read.count == Rings.mostOnDisk && read.all == rings.all)
        #expect(read.page(skipping: 0).map(\.sequence) == (9851...10_050).reversed())
        #expect(read.page(skipping: 9_900).map(\.sequence) == (51...150).reversed())
        #expect(read.page(skipping: 10_000).isEmpty && read.page(skipping: .max).isEmpty)
        // A node that keeps none any more has a page of them.
        #expect(Rings(lines: rings.lines(atMost: Rings.most))?.all == rings.page(skipping: 0))
    }

    @Test func whatIsTooOldIsForgotten() {
        var rings = Rings(room: Rings.mostOnDisk)
        rings.watch([Digest(high: 1, low: 1), Digest(high: 2, low: 2)])
        rings.add(ring(1, of: 1))
        rings.add(ring(2, of: 9, .kept))
        for number in 3...9 { rings.add(ring(number, of: 2, .kept)) }
        rings.end(2, .delivered, at: UnixTime(milliseconds: 20_000))
        rings.refuse("BadMessage", at: "peer", at: UnixTime(milliseconds: 4000))
        rings.refuse("UnknownApp", at: "peer", at: UnixTime(milliseconds: 5000))
        rings.forget(before: UnixTime(milliseconds: 5000))
        #expect(rings.all.map(\.sequence) == [9, 8, 7, 6, 5, 2])
        #expect(rings.refused.map(\.reason) == ["UnknownApp"])
        #expect(rings.last(of: Digest(high: 1, low: 1)) == nil)
        #expect(rings.last(of: Digest(high: 2, low: 2))?.sequence == 9)
        // Those that lie in mailboxes are found in their new places.
        rings.end(7, .expired, at: UnixTime(milliseconds: 21_000))
        #expect(rings.all.map(\.outcome) == [.kept, .kept, .expired, .kept, .kept, .delivered])
    }

    @Test func aMailboxHasItsLastRing() throws {
        var rings = Rings()
        var mine = ring(1, of: 5, .kept)
        mine.mailbox = "desk"
        rings.add(mine)
        for number in 2...1000 { rings.add(ring(number)) }
        #expect(rings.lastOfMailboxes["desk"]?.outcome == .kept)
        #expect(Rings(lines: rings.lines())?.lastOfMailboxes == rings.lastOfMailboxes)
        // Mailboxes come and go.
        for number in 0..<3000 {
            var other = ring(2000 + number, .kept)
            other.mailbox = "box \(number)"
            rings.add(other)
        }
        #expect(rings.lastOfMailboxes.count == Rings.mostMailboxes)
        #expect(rings.lastOfMailboxes["box 2999"] != nil && rings.lastOfMailboxes["desk"] == nil)
    }
}
