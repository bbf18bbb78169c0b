import MemoryStore
import Relay
import Testing

@testable import Persistence

/// Histories of the pipeline over a real store, which has to do whatever its model does: all of the store but its engine is
/// the node's own.
@Suite struct StoreSimulationTests {
    @Test(arguments: SimulationTests.seeds)
    func aStoreInMemoryIsAsItsModel(seed: UInt64) throws {
        print("simulation: store of seed \(seed) begins")
        let beside = try Self.beside(StorePlace(try MemoryEngine()))
        let world = World(seed: seed, beside: beside)
        world.run()
        print(
            "simulation: store of seed \(seed): \(world.steps) steps, \(world.crashes) crashes,"
                + " \(world.books.accepted) accepted")
        if let violation = world.violation { Issue.record("store of seed \(seed), \(violation)") }
        #expect(world.books.delivered > 100)
        #expect(world.crashes > 1)
    }

    private static func beside(_ place: StorePlace) throws -> StoreBeside {
        var store = try StoreStatements(place)
        func write(_ body: @escaping (StoreStatements) throws(StoreError) -> Void) throws {
            let (_, failures) = try store.commit([], [DoorWrite(run: body, end: { _ in })])
            if let failure = failures.compactMap(\.self).first { throw failure }
        }
        return StoreBeside(
            commit: { try store.commit($0).results }, claim: { try store.claim($0) },
            notifications: { try store.notifications($0) },
            keep: { identity in
                var sequence: Int64?
                try write { store throws(StoreError) in sequence = try store.keep(identity) }
                return sequence
            }, endKept: { end in try write { store throws(StoreError) in try store.keptEnded(end) } },
            restart: { now in
                store = try StoreStatements(place)
                _ = try store.begin(at: now)
                return try store.content()
            })
    }
}
