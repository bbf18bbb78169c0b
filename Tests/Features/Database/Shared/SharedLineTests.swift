import Foundation
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// Answers that are lost on their way to one of several nodes: what it thinks that it has, and that waits for it, is what
/// the database says.
extension SharedStoreTests {
    /// - Parameter isBackAtOnce: Else the next connection comes later, and until then nothing is known.
    private func cut(
        _ cutter: LineCutter, _ cut: LineCutter.Cut, isBackAtOnce: Bool, during body: () async -> Void
    ) async throws {
        func allow(_ isAllowed: Bool) throws {
            try #require(
                try server.psql(
                    "postgres",
                    "ALTER DATABASE \(try #require(directory.database)) ALLOW_CONNECTIONS \(isAllowed)") == ""
            )
        }
        if !isBackAtOnce { try allow(false) }
        cutter.cut(cut)
        await body()
        if !isBackAtOnce { try allow(true) }
    }

    @Test(arguments: [LineCutter.Cut.before, .after], [true, false])
    func aGivingUpWhoseAnswerWasLostIsKnownLater(_ cut: LineCutter.Cut, isBackAtOnce: Bool) async throws {
        let cutter = try LineCutter(to: server.directory)
        defer { cutter.close() }
        let (first, second) = try await pair(first: cutter.url(try #require(directory.database)))
        let rows = [one(1, 3, .backlog(room: 9)), one(3, 3, .backlog(room: 9)), one(5, 4, .backlog(room: 9))]
        _ = try await first.commit(rows.map { .store($0) })
        _ = try await first.divide(ShareRequest(leaving: Shards([3])))
        var isMade = false
        try await self.cut(cutter, cut, isBackAtOnce: isBackAtOnce) {
            isMade = (try? await first.commit([.giveUp(Shards([3]))])) != nil
        }
        #expect(isMade == (cut == .after && isBackAtOnce))
        if !isMade { _ = try await first.commit([.giveUp(Shards([3]))]) }
        // The room of what it gave up is free once, whenever it was told.
        var lost = 0
        var gained = Shards.none
        for _ in 0..<3 {
            let share = try await first.divide(ShareRequest())
            lost += share.lost.reduce(0) { $0 + $1.waiting } - share.arrived.reduce(0) { $0 + $1.waiting }
            gained = gained.union(share.gained)
            #expect(share.owned == Self.half)
        }
        // It is the first to look, so it gets the shard back.
        #expect(gained == Shards([3]) && lost == 0)
        #expect(try await claim(first, rows) == [1, 2, 3])
        await first.close()
        await second.close()
    }

    @Test(arguments: [LineCutter.Cut.before, .after], [true, false])
    func arrivalsWhoseAnswerWasLostAreSentAllTheSame(_ cut: LineCutter.Cut, isBackAtOnce: Bool) async throws {
        let cutter = try LineCutter(to: server.directory)
        defer { cutter.close() }
        let (first, second) = try await pair(first: cutter.url(try #require(directory.database)))
        let rows = [one(1, 3, .elsewhere(room: 9)), one(3, 4, .elsewhere(room: 9))]
        _ = try await second.commit(rows.map { .store($0) })
        try await self.cut(cutter, cut, isBackAtOnce: isBackAtOnce) {
            await #expect(throws: OutboxError.self) { try await first.divide(ShareRequest()) }
        }
        // What was not told yet is not counted yet.
        #expect(try await claim(first, rows).isEmpty)
        let share = try await first.divide(ShareRequest())
        #expect(share.arrived.reduce(0) { $0 + $1.waiting } == 2)
        // Nothing of a higher number is claimed.
        #expect(share.lastSequence == 2)
        #expect(try await first.divide(ShareRequest()).arrived.isEmpty)
        #expect(try await claim(first, rows) == [1, 2])
        await first.close()
        await second.close()
    }

    /// Whichever of the requests of a look is the last one, what has arrived is told once, and claimed.
    @Test(arguments: [LineCutter.Cut.before, .after])
    func aLookThatIsCutAnywhereKeepsItsNews(_ cut: LineCutter.Cut) async throws {
        let cutter = try LineCutter(to: server.directory)
        defer { cutter.close() }
        let place = Directory.place(at: cutter.url(try #require(directory.database)))
        var (first, second) = try await pair(first: cutter.url(try #require(directory.database)))
        var cuts = 0
        var isCut = true
        while isCut {
            // A new one takes the census in its first look.
            await first.close()
            first = try await OutboxStore(place)
            _ = try await first.content()
            let row = one(Int64(cuts + 1), 3, .elsewhere(room: 99), device: UInt64(cuts + 1))
            _ = try await second.commit([.store(row)])
            cutter.cut(cut, atRequest: cuts + 1)
            var share = try? await first.divide(ShareRequest(awaited: [1]))
            cutter.cut(nil, atRequest: 0)
            isCut = share == nil
            if isCut {
                cuts += 1
                share = try await first.divide(ShareRequest(awaited: [1]))
            }
            #expect(share?.arrived.reduce(0) { $0 + $1.waiting } == 1, "after request \(cuts)")
            let claimed = try await claim(first, [row])
            #expect(claimed.count == 1, "after request \(cuts)")
            _ = try await first.commit(claimed.map { .finish(sequence: $0, .delivered) })
        }
        #expect(cuts > 4)
        await first.close()
        await second.close()
    }

    /// What a node that has gone leaves behind is taken over once, whichever request is the last one.
    @Test(arguments: [LineCutter.Cut.before, .after])
    func aTakeoverThatIsCutAnywhereIsMadeAllTheSame(_ cut: LineCutter.Cut) async throws {
        let cutter = try LineCutter(to: server.directory)
        defer { cutter.close() }
        var cuts = 0
        var isCut = true
        while isCut {
            let (first, second) = try await pair(first: cutter.url(try #require(directory.database)))
            let rows = [
                one(Int64(3 * cuts + 1), 200, device: UInt64(cuts + 1)),
                one(Int64(3 * cuts + 2), 201, .backlog(room: 9), device: UInt64(cuts + 1)),
            ]
            _ = try await second.commit(rows.map { .store($0) })
            let late = one(Int64(3 * cuts + 3), 202, .elsewhere(room: 9), device: UInt64(cuts + 1))
            _ = try await first.commit([.store(late)])
            await second.close()
            cutter.cut(cut, atRequest: cuts + 1)
            var share = try? await first.divide(ShareRequest())
            cutter.cut(nil, atRequest: 0)
            isCut = share == nil
            if isCut {
                cuts += 1
                share = try await first.divide(ShareRequest())
            }
            #expect(share?.owned == .all && share?.gained == Self.otherHalf, "after request \(cuts)")
            #expect(share?.arrived.reduce(0) { $0 + $1.waiting } == 3, "after request \(cuts)")
            let claimed = try await claim(first, rows + [late])
            #expect(claimed.count == 3, "after request \(cuts)")
            _ = try await first.commit(claimed.map { .finish(sequence: $0, .delivered) })
            await first.close()
        }
        #expect(cuts > 6)
    }
}
