import Doors
import Gateways
import Overview
import Persistence
import Reactor
import Relay
import Tor

/// Something that a node can have beside the way of Bisq's notifications, and can be built without: an endpoint for other
/// senders, or for phones that fetch.
///
/// Each lies in a room of its own, `Sources/Features/NAME`: one module above this one, with its endpoint, its settings, its
/// tables and its calls, and perhaps a second one with its commands. It uses what this module and those below declare for
/// everybody, and no other feature. Nothing below names one: a program hands over the list of those that it was built with.
///
/// A value is a feature as the settings want it.
package protocol Feature: Sendable {
    /// The name of its section in `doors`, and of the endpoint in the log and in figures; never changed once released.
    static var name: String { get }
    /// The path of its section, where that is not `doors.NAME`.
    static var section: String { get }
    /// The kinds of its tables in the store, each behind those that it refers to.
    static var tables: [any DoorTables.Type] { get }
    /// The gateways that apps may have by it.
    static var gateways: [any ConfiguredApp.Type] { get }

    /// Declares and reads each of its settings, and reports the fault of one to the section.
    ///
    /// - Parameters:
    ///   - section: `doors.NAME`, or another ``section``.
    ///   - settings: Those that were read before, such as the apps and the ports of the onion address.
    init(_ section: SettingsReader.Section, of settings: Settings)

    /// The places at which it is served over HTTP; empty: it is off, or has none.
    var listen: [DoorPlace] { get }
    /// The address at which phones find it, where it is not the first of these places: an URL; empty: there is none.
    var url: String { get }
    /// The places at which it is served by another protocol, with their keys.
    var otherPlaces: [(key: String, places: [DoorPlace])] { get }
    /// The most connections that it holds besides those of HTTP (`http.connections`).
    var connections: Int { get }
    /// Lowers ``connections``, so that all endpoints fit into the limit of open files.
    ///
    /// - Parameter lowered: Returns the number in place of another.
    /// - Returns: The new number, with the key that sets it; `nil`: there are none.
    mutating func lowerConnections(_ lowered: (Int) -> Int) -> (key: String, number: Int)?
    /// Sentences about places at which everybody may push who can reach them, each with what helps.
    var openPlaces: [(sentence: String, advice: String)] { get }

    /// Opens the feature's tables and reads its files, once, before senders come. The caller opens its sockets for HTTP.
    ///
    /// - Returns: `nil`: the settings want it nowhere.
    @EventLoop
    func open(at site: DoorSite, state: borrowing StateDirectory) async throws(NodeError) -> OpenedDoor?
}

extension Feature {
    package static var section: String { "doors.\(name)" }
    package static var tables: [any DoorTables.Type] { [] }
    package static var gateways: [any ConfiguredApp.Type] { [] }
    package var url: String { "" }
    package var otherPlaces: [(key: String, places: [DoorPlace])] { [] }
    package var connections: Int { 0 }
    package mutating func lowerConnections(_ lowered: (Int) -> Int) -> (key: String, number: Int)? { nil }
    package var openPlaces: [(sentence: String, advice: String)] { [] }

    /// All places with the keys that name them.
    package var places: [(key: String, places: [DoorPlace])] {
        [("doors.\(Self.name).listen", listen)] + otherPlaces
    }
}

/// The features that a program was built with.
package struct Features: Sendable {
    /// The features, in the order in which they are read and opened.
    package let kinds: [any Feature.Type]
    /// The features that there are, and that it was built without.
    package let leftOut: [LeftOut]

    /// The kinds of tables in a store of the program.
    package var tables: DoorKinds { DoorKinds(of: kinds.flatMap { $0.tables }) }

    /// The push services that apps of the program may push to.
    package var pushServices: [any ConfiguredApp.Type] {
        PushServices.all + kinds.flatMap { $0.gateways }
    }

    package init(_ kinds: [any Feature.Type], leftOut: [LeftOut]) {
        (self.kinds, self.leftOut) = (kinds, leftOut)
    }

    /// A feature that a program was built without: its settings are refused by its name.
    package struct LeftOut: Sendable, ExpressibleByStringLiteral {
        package let name: String
        /// A section beside `doors`; `nil`: `doors.NAME`.
        let section: String?
        /// The keys of the feature's settings, in a section that has others too; empty: the whole section is the feature's.
        let keys: [String]

        package init(_ name: String, section: String, keys: [String] = []) {
            (self.name, self.section, self.keys) = (name, section, keys)
        }

        package init(stringLiteral name: String) { (self.name, section, keys) = (name, nil, []) }
    }
}

extension Settings {
    /// Returns the feature of a name as these settings want it; `nil`: the program was built without it.
    package func feature(named name: String) -> (any Feature)? {
        features.first { type(of: $0).name == name }
    }

    /// Returns a feature as these settings want it; `nil`: the program was built without it.
    package func feature<Wanted: Feature>(_ kind: Wanted.Type) -> Wanted? {
        for feature in features { if let found = feature as? Wanted { return found } }
        return nil
    }
}
