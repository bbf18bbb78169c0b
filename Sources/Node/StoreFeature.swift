import Doors
import Persistence
import Reactor

/// A feature that keeps the store somewhere else than in a file of the state directory.
///
/// Its settings lie in the section `storage`, beside those that hold for each store.
package protocol StoreFeature: Feature {
    /// True if the settings want the store there.
    var isWanted: Bool { get }
    /// The file of a password that may be changed while the node runs; empty: there is none.
    var passwordFile: String { get }
    /// The faults of the place that only show on the machine that it is for.
    var faultsOfPlace: [SettingsFault] { get }
    /// The files that the place needs beside the one of the password, with the keys that name them.
    var filesOfPlace: [(key: String, path: String)] { get }

    /// Returns the place with the password as its file has it now.
    func place(of settings: Settings) throws(NodeError) -> StorePlace
}

extension StoreFeature {
    package static var section: String { "storage" }
    package var listen: [DoorPlace] { [] }

    @EventLoop
    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? { nil }
}

extension Settings {
    /// The feature that keeps the store; `nil`: it lies in a file of the state directory.
    var keeperOfStore: (any StoreFeature)? {
        for feature in features {
            if let keeper = feature as? any StoreFeature, keeper.isWanted { return keeper }
        }
        return nil
    }

    /// True if the store is a file of the state directory.
    package var isStoreFile: Bool { keeperOfStore == nil }

    /// Returns the place of the store, for the node, and for commands beside it or in its place.
    package func store() throws(NodeError) -> StorePlace {
        guard let keeper = keeperOfStore else {
            return .file(StateDirectory.outbox(in: stateDirectory), built.tables)
        }
        return try keeper.place(of: self)
    }
}
