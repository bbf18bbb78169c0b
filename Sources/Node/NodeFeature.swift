import Doors
import HTTP1
import Logging
import Overview
import Persistence
import Reactor
import Tor

/// A feature that is about the node itself, and not about senders: it shows the node to its owner, and changes it for him.
///
/// It has no door among those of senders. What it reaches of the node is what ``RelayNode`` declares for others.
package protocol NodeFeature: Feature {
    /// The places of its listeners, with their keys.
    var listeners: [(key: String, endpoint: Endpoint)] { get }
    /// The faults of its places that only show on the machine that they are for.
    var faultsOfPlaces: [SettingsFault] { get }
    /// Whether the feature writes the settings' file, so that the node's user has to own it.
    var changesSettings: Bool { get }

    /// Changes files of the node before a start reads any of them but the settings.
    ///
    /// - Parameter file: The settings' file.
    /// - Returns: Whether the settings have to be read again.
    static func prepareStart(with settings: Settings, of file: String, log: Logger) throws(NodeError) -> Bool
    /// Takes back what was changed for a start that has failed.
    ///
    /// - Returns: Whether there was anything: then the node starts as what it was before.
    static func takeBackStart(
        in stateDirectory: String, of kinds: DoorKinds, because reason: String
    ) throws(NodeError) -> Bool
    /// Keeps what was changed for the start: the node runs.
    static func keepStart(in stateDirectory: String)

    /// Makes what it has beside the node while that runs; nothing of it is open yet.
    @EventLoop
    func companion(of node: RelayNode, state: borrowing StateDirectory) -> any NodeCompanion
}

extension NodeFeature {
    package var listen: [DoorPlace] { [] }

    @EventLoop
    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? { nil }
}

/// The part of a ``NodeFeature`` beside a node that runs.
@EventLoop
package protocol NodeCompanion: AnyObject {
    /// The door behind the socket in the state directory, which only the node's user may use.
    var statusDoor: any HTTPDoor { get }
    /// An onion service beside the node's own; `nil`: it has none.
    var neighbour: NeighbourService? { get }

    /// Returns the most bytes that the body of a request over that socket may have; `nil`: as many as any.
    func bodyLimit(_ request: HTTPRequest) -> Int?
    /// Opens the listeners.
    func open(_ state: borrowing StateDirectory) throws(NodeError)
    /// Prepares for the onion service, which is about to be published.
    func willPublish(_ state: borrowing StateDirectory)
    /// Hears that parts of the node are not what they were.
    func changed(_ parts: ChangedParts)
    /// Takes over what is in its files now.
    func lookNow() async
    func addFigures(to report: inout Report)
    /// Tells whoever has started the node at a terminal what nobody else may know.
    func tellOwner(_ write: @escaping @EventLoop (_ line: String) -> Void)
    func close() async
}

/// Parts of a node that are not what they were.
package struct ChangedParts: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let state = ChangedParts(rawValue: 1)
    package static let phones = ChangedParts(rawValue: 2)
    package static let mailboxes = ChangedParts(rawValue: 4)
    package static let peers = ChangedParts(rawValue: 8)
}

extension Settings {
    /// The features that are about the node itself.
    var nodeFeatures: [any NodeFeature] { features.compactMap { $0 as? any NodeFeature } }

    /// Whether the node writes its settings' file.
    package var areChangedByNode: Bool { nodeFeatures.contains { $0.changesSettings } }
}

extension Features {
    /// The kinds of features that are about the node itself.
    var nodeKinds: [any NodeFeature.Type] { kinds.compactMap { $0 as? any NodeFeature.Type } }

    /// Takes back what a feature has changed for a start that has failed; returns whether there was anything.
    func takeBackStart(in stateDirectory: String, because error: NodeError) throws(NodeError) -> Bool {
        for kind in nodeKinds
        where try kind.takeBackStart(in: stateDirectory, of: tables, because: "\(error)") { return true }
        return false
    }

    /// Whether the program has a feature of this name.
    package func has(_ name: String) -> Bool { kinds.contains { $0.name == name } }
}
