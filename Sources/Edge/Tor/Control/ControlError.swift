import Glibc
import Reactor

/// The reason why a command has no answer, or there is no connection to tor's control port.
package enum ControlError: Error, Equatable, Sendable {
    /// The control port can't be reached: nothing listens there, or we may not connect.
    case unreachable(ConnectError)
    /// Tor answered, and did not do what was asked.
    case refused(ControlRefusal)
    /// The reply is not in the language of a control port: another program listens there, or tor is broken.
    case notUnderstood(ControlSyntaxError)
    /// The connection is over: tor closed it, or died.
    case closed
    case failed(SystemError)
    /// Tor did not answer this command in time. The connection is closed: later replies would not fit.
    case timedOut(command: String)

    /// Tor is older than ``TorVersion/oldestSupported``.
    case tooOld(TorVersion)
    /// Tor offers no way of authentication for which we have a cookie or password.
    case noUsableMethod([ProtocolInfo.Method])
    /// The cookie's file is missing for the moment, or always: the file, and why it can't be read.
    case cookieUnreadable(SystemError)
    /// The file does not hold 32 bytes: it is being written right now, or is another file.
    case cookieMalformed(path: String)
    /// The other side does not know our cookie.
    case cookieMismatch
    case passwordUnreadable(SystemError)
    /// The files of the service that tor is to take can't be written or read.
    case serviceDirectory(SystemError)
    /// Tor made of our key another address than the key's.
    case otherAddress

    /// Whether another try may succeed in a moment without anyone's help: tor begins to listen before it has written its
    /// cookie, and a starting or restarting tor is unreachable.
    package var mayPassSoon: Bool {
        switch self {
        case .closed, .failed, .timedOut, .cookieMalformed, .cookieMismatch: true
        case .unreachable(.failed(let error)), .cookieUnreadable(let error): error.code != EACCES
        case .unreachable(.timedOut), .unreachable(.unknownHost), .unreachable(.noSuchHost): true
        case .refused(.authenticationRefused(let refusal)): refusal.mayPassSoon
        case .refused(.onionAddressCollision): true
        case .refused, .notUnderstood, .tooOld, .noUsableMethod, .passwordUnreadable, .serviceDirectory,
            .otherAddress:
            false
        }
    }
}

extension ControlError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(.failed(let error)):
            "tor's control port can't be reached: \(error)\(Self.advice(on: error))"
        case .unreachable(let error): "tor's control port can't be reached: \(error)"
        case .refused(let refusal): refusal.description
        case .notUnderstood(let error): "the program there is not a tor control port: it sent \(error)"
        case .closed: "tor closed the control connection"
        case .failed(let error): "the control connection failed: \(error)"
        case .timedOut(let command): "tor did not answer \(command) in time"
        case .tooOld(let version):
            "tor \(version) is too old; \(TorVersion.oldestSupported) or newer is needed"
        case .noUsableMethod(let methods):
            """
            tor offers \(methods.isEmpty ? "no known authentication" : methods.map(\.rawValue).joined(separator: ", ")); \
            set tor.cookie_file or tor.password_file to fit
            """
        case .cookieUnreadable(let error): "tor's cookie can't be read: \(error)\(Self.advice(on: error))"
        case .cookieMalformed(let path): "\(path) is no tor cookie: it does not have 32 bytes"
        case .cookieMismatch: "the cookie file does not belong to the tor that answers"
        case .passwordUnreadable(let error): "the control port password can't be read: \(error)"
        case .serviceDirectory(let error): "the onion service's directory: \(error)"
        case .otherAddress: "tor derived a different onion address from the key"
        }
    }
    private static func advice(on error: SystemError) -> String {
        switch error.code {
        case EACCES: "; let the node's user into tor's group (Debian: adduser onionbell debian-tor)"
        case ECONNREFUSED, ENOENT: "; is tor running, and is its control port there?"
        default: ""
        }
    }
}
