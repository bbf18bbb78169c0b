/// A place where a store can lie, and the program that keeps it there.
///
/// An engine is a folder, the file's one in this module and others in a room of their own: the engine itself, its connection,
/// its statements, its dialect and its tables. The other files of the module name no type of an engine. What differs is asked
/// of the engine: by what it can do, by its dialect, or by its ``Sharing``, if it is one that several nodes use at once.
package protocol Engine: Sendable {
    /// The path of the file that the store lies in; `nil`: it lies in none.
    var file: String? { get }

    /// True if several nodes may use the store at the same time.
    var isShared: Bool { get }

    func connect(for access: StoreAccess) throws(StoreError) -> any EngineConnection

    /// Opens an empty place for a copy of another store, or one with what a copy has left that was cut short. Nobody takes it for
    /// a store before ``EngineConnection/endCopy()``.
    func beginCopy(of tables: [StoreTable]) throws(StoreError) -> any EngineConnection

    /// Returns the failure of an opening, with what to do about it.
    func explained(_ error: StoreError) -> StoreError

    /// Words about what a node that was killed has left; `nil`: nothing, or nothing that matters.
    var leftOver: String? { get }
}

extension Engine {
    package func explained(_ error: StoreError) -> StoreError { error }
    package var leftOver: String? { nil }
}

/// The place of a store, for those who only hand it on.
package struct StorePlace: Sendable {
    let engine: any Engine
    /// The kinds of tables beside the outbox.
    package let kinds: DoorKinds

    package init(_ engine: any Engine, _ kinds: DoorKinds = DoorKinds()) {
        (self.engine, self.kinds) = (engine, kinds)
    }

    /// The path of the file that the store lies in; `nil`: it lies in none.
    package var file: String? { engine.file }

    /// True if several nodes may use the store at the same time.
    package var isShared: Bool { engine.isShared }

    /// Words about what a node that was killed has left; `nil`: nothing, or nothing that matters.
    package var leftOver: String? { engine.leftOver }
}

/// The purpose for which a store is opened.
package enum StoreAccess: Sendable {
    /// A look beside the node that runs.
    case reading
    /// A look in place of a node that is stopped: nothing of a file is changed, and nothing is made beside
    /// it.
    case inspecting
    /// A change beside the node that runs, of what the node reads anew each time.
    case changing
    /// The work of one node of several.
    case sharing
    /// The work in place of a node that is stopped: alone.
    case owning
    /// The work in place of a node that is stopped, alone, to fill a place that holds no store.
    case copying
}
