import Encodings
import Reactor

/// How a request over a connection ended.
enum ExchangeEnd {
    case answered(GatewayAnswer)
    /// The request was surely not handled: it may be sent again at once. The reason is the gateway's word, if
    /// it gave one.
    case unharmed(ExchangeReason)
    /// The request may have been handled, or not.
    case unclear(ExchangeReason)

    /// The meaning of the outcome for the connection. No service answers what it takes with a page: a proxy
    /// or a hotspot does.
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
    /// Called when there may be more room, or less.
    func connectionChanged(_ connection: GatewayConnection)
    /// Called when a request was answered, with the time that this took.
    func connection(_ connection: GatewayConnection, answeredAfter time: Duration)
    /// Called when all that was sent over the connection for a while has failed.
    func connectionOnlyFails(_ connection: GatewayConnection)
    /// Called when the gateway has sent a GOAWAY frame, with that word if it gave a reason.
    func connection(_ connection: GatewayConnection, goesAwayFor word: String?)
    /// Called once, the last of all, when the connection takes nothing more and all its requests have ended.
    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd)
    /// Whether another connection can do its work.
    func isSpare(_ connection: GatewayConnection) -> Bool
}

extension ConnectionOwner {
    func connection(_ connection: GatewayConnection, answeredAfter time: Duration) {}
    func connectionOnlyFails(_ connection: GatewayConnection) {}
}

/// Why a connection is over.
enum ConnectionEnd: Error, Equatable {
    /// The end is in order: nothing was on its way over the connection any more, which had been told to go.
    case finished(reason: String)
    /// We have closed a connection that could have served: it was spare or unused.
    case unneeded(reason: String)
    case broken(ExchangeReason)
    /// The proxy on the way out, mostly the node's own tor, was not there or failed: nobody has asked the gateway.
    case cutOff(ExchangeReason)
    /// The other end is not who it must be, or doesn't take our certificate: the operator must look.
    case untrusted(reason: String)

    init(_ end: ConnectionLife.End) {
        self =
            switch end {
            case .drained: .finished(reason: "Drained")
            case .spare: .unneeded(reason: "Spare")
            case .unused: .unneeded(reason: "Unused")
            case .setupTimeout: .broken(.own(.setupTimeout))
            case .silent: .broken(.own(.silent))
            case .starved: .broken(.own(.noStreams))
            }
    }

    /// The reason for a request that was still on its way.
    var reason: ExchangeReason {
        switch self {
        case .broken(let reason), .cutOff(let reason): reason
        case .finished(let text), .unneeded(let text), .untrusted(let text): .system(text)
        }
    }

    /// Whether nobody but we wanted it, which says nothing of the gateway.
    var isOurs: Bool {
        if case .unneeded = self { true } else { false }
    }

    /// Whether the way out failed before the gateway was asked.
    var isCutOff: Bool {
        if case .cutOff = self { true } else { false }
    }

    var text: String { reason.text }
}
