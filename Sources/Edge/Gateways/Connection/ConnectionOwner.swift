import Encodings
import Reactor

/// How a request over a connection ended.
enum ExchangeEnd {
    case answered(GatewayAnswer)
    /// Surely not handled: it may be sent again at once. With the gateway's word, if it gave one.
    case unharmed(reason: String)
    /// The request may have been handled, or not.
    case unclear(reason: String)

    /// No service answers what it takes with a page: a proxy or a hotspot does.
    var sign: ConnectionLife.Sign {
        switch self {
        case .unharmed, .unclear: .fails
        case .answered(let answer):
            switch answer.status {
            case 200..<300: answer.isPage ? .fails : .works
            case 500..<600: .fails
            case _: .nothing
            }
        }
    }
}

/// The keeper of a connection.
@EventLoop
protocol ConnectionOwner: AnyObject {
    /// There may be more room, or less.
    func connectionChanged(_ connection: GatewayConnection)
    /// A request was answered, after so many nanoseconds.
    func connection(_ connection: GatewayConnection, answeredAfter time: Int64)
    /// All that was sent over it for a while has failed.
    func connectionOnlyFails(_ connection: GatewayConnection)
    /// The gateway has sent a GOAWAY frame, with that word if it gave a reason.
    func connection(_ connection: GatewayConnection, goesAwayFor word: String?)
    /// The connection takes nothing more, and all its requests have ended. Called once, the last of all.
    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd)
    /// Whether another connection can do its work.
    func isSpare(_ connection: GatewayConnection) -> Bool
}

extension ConnectionOwner {
    func connection(_ connection: GatewayConnection, answeredAfter time: Int64) {}
    func connectionOnlyFails(_ connection: GatewayConnection) {}
}

/// Why a connection is over.
enum ConnectionEnd: Error, Equatable {
    /// The end is in order: drained after a GOAWAY, spare, unused, or closed by us.
    case finished(reason: String)
    case broken(reason: String)
    /// The other end is not who it must be, or doesn't take our certificate: the operator must look.
    case untrusted(reason: String)

    init(_ end: ConnectionLife.End) {
        self =
            switch end {
            case .drained: .finished(reason: "Drained")
            case .spare: .finished(reason: "Spare")
            case .unused: .finished(reason: "Unused")
            case .setupTimeout: .broken(reason: "SetupTimeout")
            case .silent: .broken(reason: "Silent")
            case .starved: .broken(reason: "NoStreams")
            }
    }

    var reason: String {
        switch self {
        case .finished(let reason), .broken(let reason), .untrusted(let reason): reason
        }
    }
}
