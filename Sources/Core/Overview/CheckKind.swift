/// The thing that a check is about.
package enum CheckKind: Hashable, Sendable {
    /// The onion service of the node.
    case onion
    /// The calls of the node to its own address.
    case selfDial
    /// The address that clients use, where an onionbalance stands before the node.
    case front
    case tor
    /// The store of what waits, and the room in it.
    case outbox
    /// The share of the room for what waits that one app takes.
    case backlog
    /// The nodes that share a database.
    case nodes
    /// The speed of a shared database.
    case database
    case disk
    /// The lateness of the event loop.
    case loop
    /// The room for connections.
    case connections
    /// The loss of many circuits or peers at once.
    case circuits
    /// The way out: whether anything that is due is sent.
    case pushing
    /// The settings that are in use, beside those that were read last.
    case settings
    /// The certificate of an app, or that of the listeners, which is called `https`.
    case certificate(of: String)
    /// One app at one host of its push service, by the name of the lane.
    case lane(String)

    /// The checks of the node that have a fixed name.
    static let fixed: [CheckKind] = [
        .onion, .selfDial, .front, .tor, .outbox, .backlog, .nodes, .database, .disk, .loop, .connections,
        .circuits, .pushing, .settings,
    ]

    private static let certificateSuffix = ".certificate"

    /// Reads a ``name``. A name that is neither fixed nor a certificate's is a lane's.
    init(name: String) {
        if name.hasSuffix(CheckKind.certificateSuffix) {
            self = .certificate(of: String(name.dropLast(CheckKind.certificateSuffix.count)))
        } else {
            self = CheckKind.fixed.first { $0.name == name } ?? .lane(name)
        }
    }

    /// The name that programs read, in `/healthz`, in metrics and in the file of the history.
    package var name: String {
        switch self {
        case .onion: "onion"
        case .selfDial: "self_dial"
        case .front: "front"
        case .tor: "tor"
        case .outbox: "outbox"
        case .backlog: "backlog"
        case .nodes: "nodes"
        case .database: "database"
        case .disk: "disk"
        case .loop: "loop"
        case .connections: "connections"
        case .circuits: "circuits"
        case .pushing: "pushing"
        case .settings: "settings"
        case .certificate(let app): app + CheckKind.certificateSuffix
        case .lane(let name): name
        }
    }

    /// Whether the check is one of several of its kind, each of one app.
    var isOfOneApp: Bool {
        switch self {
        case .certificate, .lane: true
        case .onion, .selfDial, .front, .tor, .outbox, .backlog, .nodes, .database, .disk, .loop,
            .connections,
            .circuits, .pushing, .settings:
            false
        }
    }

    /// The heading for people who do not know the names of the checks.
    var title: String {
        switch self {
        case .onion: "Onion address"
        case .selfDial: "Address called from outside"
        case .front: "Address before several nodes"
        case .tor: "Tor"
        case .outbox: "Store of waiting notifications"
        case .backlog: "What waits for one app"
        case .nodes: "Nodes of the database"
        case .database: "Speed of the database"
        case .disk: "Disk"
        case .loop: "Speed of the node"
        case .connections: "Room for connections"
        case .circuits: "Tor connections cut"
        case .pushing: "Delivery"
        case .settings: "Settings"
        case .certificate(let app): "Certificate of \(app)"
        case .lane(let name): name
        }
    }

    /// The article that says more about the check.
    var article: String {
        switch self {
        case .connections, .circuits: "PrivateNodes"
        case .front, .nodes, .database: "SeveralNodes"
        case .onion, .selfDial, .tor, .outbox, .backlog, .disk, .loop, .pushing, .settings, .certificate:
            "WhenThingsBreak"
        case .lane: "ReasonCodes"
        }
    }

    /// The rank among checks that are equally unwell: the lowest is what people notice most. An app that gets
    /// nothing is noticed before a disk that fills up.
    var rank: Int {
        switch self {
        case .onion: 0
        case .tor: 1
        case .outbox: 2
        case .pushing: 3
        case .selfDial: 4
        case .front: 5
        case .lane: 6
        case .disk: 7
        case .backlog: 8
        case .connections: 9
        case .nodes, .database, .loop, .circuits, .settings, .certificate: 10
        }
    }

    /// Whether notifications may stay where they are while the check is not well.
    var concernsDelivery: Bool {
        switch self {
        case .outbox, .pushing, .lane: true
        case .onion, .selfDial, .front, .tor, .backlog, .nodes, .database, .disk, .loop, .connections,
            .circuits, .settings, .certificate:
            false
        }
    }
}
