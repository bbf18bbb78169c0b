/// A SOCKS5 proxy's word for a connection it could not make (RFC 1928, section 6; from 0xF0 on tor's own words for
/// onion services, which a SocksPort with `ExtendedErrors` says).
package enum SOCKS5Refusal: Equatable, Sendable, CustomStringConvertible {
    case generalFailure
    case notAllowed
    case networkUnreachable
    case hostUnreachable
    case connectionRefused
    case timedOut
    case commandNotSupported
    case addressTypeNotSupported
    case descriptorNotFound
    case descriptorInvalid
    case introductionFailed
    case rendezvousFailed
    case clientAuthorizationMissing
    case clientAuthorizationWrong
    case onionAddressInvalid
    case introductionTimedOut
    case unknown(UInt8)

    init(code: UInt8) {
        self =
            switch code {
            case 1: .generalFailure
            case 2: .notAllowed
            case 3: .networkUnreachable
            case 4: .hostUnreachable
            case 5: .connectionRefused
            case 6: .timedOut
            case 7: .commandNotSupported
            case 8: .addressTypeNotSupported
            case 0xf0: .descriptorNotFound
            case 0xf1: .descriptorInvalid
            case 0xf2: .introductionFailed
            case 0xf3: .rendezvousFailed
            case 0xf4: .clientAuthorizationMissing
            case 0xf5: .clientAuthorizationWrong
            case 0xf6: .onionAddressInvalid
            case 0xf7: .introductionTimedOut
            default: .unknown(code)
            }
    }

    /// False when a further try, however long after, meets the same answer.
    package var isWorthRetrying: Bool {
        switch self {
        case .notAllowed, .commandNotSupported, .addressTypeNotSupported, .descriptorInvalid,
            .clientAuthorizationMissing, .clientAuthorizationWrong, .onionAddressInvalid:
            false
        case .generalFailure, .networkUnreachable, .hostUnreachable, .connectionRefused, .timedOut,
            .descriptorNotFound, .introductionFailed, .rendezvousFailed, .introductionTimedOut, .unknown:
            true
        }
    }

    package var description: String {
        switch self {
        case .generalFailure: "the proxy could not make the connection"
        case .notAllowed: "the proxy does not allow this connection"
        case .networkUnreachable: "the proxy can't reach the network"
        case .hostUnreachable: "the host can't be reached, or the onion service is not published"
        case .connectionRefused: "the host refuses this port"
        case .timedOut: "the host did not answer the proxy in time"
        case .commandNotSupported: "the proxy makes no outgoing connections"
        case .addressTypeNotSupported: "the proxy accepts no host names"
        case .descriptorNotFound: "the onion service is not published"
        case .descriptorInvalid: "the onion service's descriptor can't be read"
        case .introductionFailed: "the onion service's introduction points no longer know it"
        case .rendezvousFailed: "the onion service did not come to the rendezvous point"
        case .clientAuthorizationMissing: "the onion service is private: tor needs its client key"
        case .clientAuthorizationWrong: "the onion service is private, and tor's client key does not open it"
        case .onionAddressInvalid: "the onion address is mistyped: its checksum does not fit"
        case .introductionTimedOut: "the onion service's introduction points did not answer in time"
        case .unknown(let code): "the proxy refused with code \(code)"
        }
    }
}

/// Why no connection came about through a SOCKS5 proxy.
package enum SOCKS5Error: Error, Equatable, CustomStringConvertible {
    /// Host, user name or password: 1 to 255 bytes each.
    case lengthOutOfRange(of: String, bytes: Int)
    case proxyUnreachable(ConnectError)
    case proxyEnded(StreamEnd)
    /// The answer is in another protocol.
    case notSOCKS5
    /// The proxy wants another kind of login.
    case methodRefused
    case credentialsRefused
    case refused(SOCKS5Refusal)
    /// The proxy said nothing in time.
    case timedOut

    package var isWorthRetrying: Bool {
        switch self {
        case .refused(let refusal): refusal.isWorthRetrying
        case .proxyEnded, .timedOut: true
        case .lengthOutOfRange, .proxyUnreachable, .notSOCKS5, .methodRefused, .credentialsRefused: false
        }
    }

    package var description: String {
        switch self {
        case .lengthOutOfRange(let what, let bytes): "\(what) of \(bytes) bytes; SOCKS takes 1 to 255"
        case .proxyUnreachable(let error): "SOCKS proxy: \(error)"
        case .proxyEnded(let end): "the SOCKS proxy closed the connection: \(end)"
        case .notSOCKS5: "the program there is not a SOCKS5 proxy"
        case .methodRefused: "the SOCKS proxy requires another authentication method"
        case .credentialsRefused: "the SOCKS proxy rejects user name and password"
        case .refused(let refusal): refusal.description
        case .timedOut: "no answer through the SOCKS proxy in time"
        }
    }
}

/// A login at the proxy. tor takes any, and gives each pair circuits of its own.
package struct SOCKS5Credentials: Equatable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// The client's half of a SOCKS5 CONNECT by host name (RFC 1928; user name and password: RFC 1929), without I/O.
///
/// Send ``greeting``, then do what ``receive(_:)`` says with each piece of what comes back.
package struct SOCKS5Handshake {
    package enum Step: Equatable {
        /// There is nothing to do until more bytes come.
        case wait
        case send([UInt8])
        /// The connection stands; these bytes came over it already.
        case connected(unread: [UInt8])
    }

    private enum State {
        case method, login, reply
    }

    private static let noLogin: UInt8 = 0
    private static let userAndPassword: UInt8 = 2

    private let credentials: SOCKS5Credentials?
    private let request: [UInt8]
    private var state = State.method
    /// The bytes that came and are not taken yet: at most one reply, 262 bytes, and what the far side sent
    /// behind it in the same read.
    private var pending: [UInt8] = []

    package init(host: String, port: UInt16, credentials: SOCKS5Credentials? = nil) throws(SOCKS5Error) {
        try Self.check(host, "a host name")
        if let credentials {
            try Self.check(credentials.user, "a user name")
            try Self.check(credentials.password, "a password")
        }
        self.credentials = credentials
        request =
            [5, 1, 0, 3, UInt8(host.utf8.count)] + Array(host.utf8)
            + [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
    }

    private static func check(_ text: String, _ what: String) throws(SOCKS5Error) {
        let count = text.utf8.count
        guard (1...255).contains(count) else { throw .lengthOutOfRange(of: what, bytes: count) }
    }

    /// Offers exactly one method, so that a login can't be skipped in silence.
    package var greeting: [UInt8] { [5, 1, method] }

    private var method: UInt8 { credentials == nil ? Self.noLogin : Self.userAndPassword }

    package mutating func receive(_ bytes: [UInt8]) throws(SOCKS5Error) -> Step {
        pending += bytes
        switch state {
        case .method:
            if let version = pending.first, version != 5 { throw .notSOCKS5 }
            guard pending.count >= 2 else { return .wait }
            guard pending[1] == method else { throw .methodRefused }
            pending.removeFirst(2)
            guard let credentials else {
                state = .reply
                return .send(request)
            }
            state = .login
            return .send(
                [1, UInt8(credentials.user.utf8.count)] + Array(credentials.user.utf8)
                    + [UInt8(credentials.password.utf8.count)] + Array(credentials.password.utf8))
        case .login:
            guard pending.count >= 2 else { return .wait }
            guard pending[1] == 0 else { throw .credentialsRefused }
            pending.removeFirst(2)
            state = .reply
            return .send(request)
        case .reply:
            return try reply()
        }
    }

    private mutating func reply() throws(SOCKS5Error) -> Step {
        if let version = pending.first, version != 5 { throw .notSOCKS5 }
        guard pending.count >= 2 else { return .wait }
        guard pending[1] == 0 else { throw .refused(SOCKS5Refusal(code: pending[1])) }
        guard pending.count >= 5 else { return .wait }
        // Version, answer, reserved, kind of the address; the address; the port.
        let length: Int
        switch pending[3] {
        case 1: length = 4 + 4 + 2
        case 3: length = 4 + 1 + Int(pending[4]) + 2
        case 4: length = 4 + 16 + 2
        default: throw .notSOCKS5
        }
        guard pending.count >= length else { return .wait }
        return .connected(unread: Array(pending[length...]))
    }
}
