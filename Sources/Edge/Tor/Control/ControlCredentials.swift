import Crypto
import Reactor

/// The credentials that we may show tor to be let in. Files are read anew for every attempt: tor writes a new cookie at
/// every start.
package struct ControlCredentials: Equatable, Sendable {
    /// The file with the cookie. Tried before the place that tor names; `nil` or a file that is not there: that place.
    package var cookieFile: String?
    /// A file with the password, of which a line feed at the end does not count.
    package var passwordFile: String?

    package init(cookieFile: String? = nil, passwordFile: String? = nil) {
        self.cookieFile = cookieFile
        self.passwordFile = passwordFile
    }

    /// Why the named cookie can't be read just now, or is none; `nil`: it can, or none is named.
    package var cookieFault: ControlError? {
        guard let cookieFile else { return nil }
        do throws(ControlError) {
            _ = try AuthenticationWay.contents(ofCookie: cookieFile)
            return nil
        } catch {
            return error
        }
    }
}

extension ControlConnection {
    /// Connects and authenticates by the first way that tor takes: none needed, SAFECOOKIE, COOKIE, password.
    ///
    /// Tor closes the connection after each failed attempt, so every way gets one of its own.
    package static func open(
        _ endpoint: Endpoint, credentials: ControlCredentials
    ) async throws(ControlError) -> ControlConnection {
        var connection = try await ControlConnection(to: endpoint)
        let info: ProtocolInfo
        do {
            info = try await connection.ask(.protocolInfo, ProtocolInfo.init)
        } catch {
            connection.close()
            throw error
        }
        guard info.version >= .oldestSupported else {
            connection.close()
            throw .tooOld(info.version)
        }
        var failure: ControlError?
        for way in try AuthenticationWay.usable(info, credentials) {
            if connection.end != nil { connection = try await ControlConnection(to: endpoint) }
            do {
                try await connection.authenticate(by: way)
                return connection
            } catch {
                connection.close()
                failure = error
                // Anything else would go the same way again.
                guard error.isAboutProof else { throw error }
            }
        }
        connection.close()
        throw failure ?? .noUsableMethod(info.methods)
    }

    private func authenticate(by way: AuthenticationWay) async throws(ControlError) {
        switch way {
        case .none:
            try await send(.authenticate)
        case .cookie(let cookie):
            try await send(.authenticate(cookie))
        case .password(let password):
            try await send(.authenticate(password))
        case .safeCookie(let cookie):
            let nonce = randomBytes(32)
            let reply = try await send(.safeCookieChallenge(nonce: nonce))
            try await send(.authenticate(SafeCookie(cookie: cookie, nonce: nonce, reply: reply).answer))
        }
    }
}

extension ControlError {
    fileprivate var isAboutProof: Bool {
        switch self {
        case .refused(.authenticationRefused), .cookieMismatch: true
        case .refused, .unreachable, .notUnderstood, .closed, .failed, .timedOut, .tooOld, .noUsableMethod,
            .cookieUnreadable, .cookieMalformed, .passwordUnreadable, .serviceDirectory, .otherAddress:
            false
        }
    }
}

/// One attempt, with the proof it shows.
private enum AuthenticationWay {
    case none
    case safeCookie([UInt8])
    case cookie([UInt8])
    case password([UInt8])

    /// Returns the ways that tor offers and we have a proof for, the safest first.
    ///
    /// - Throws: why the proof can't be read, when that leaves none.
    static func usable(
        _ info: ProtocolInfo, _ credentials: ControlCredentials
    ) throws(ControlError) -> [AuthenticationWay] {
        if info.methods.contains(.null) { return [.none] }
        var ways: [AuthenticationWay] = []
        var failure: ControlError?
        if info.methods.contains(.safeCookie) {
            // The other side must prove first that it knows the file's bytes, so it may name the file.
            var paths = [credentials.cookieFile, info.cookieFile].compactMap { $0 }
            if paths.count == 2, paths[0] == paths[1] { paths.removeLast() }
            for path in paths {
                do { ways.append(.safeCookie(try contents(ofCookie: path))) } catch {
                    failure = failure ?? error
                }
            }
        } else if info.methods.contains(.cookie), let path = credentials.cookieFile {
            // Here the bytes are sent as they are: only of the file that the operator named.
            do { ways.append(.cookie(try contents(ofCookie: path))) } catch { failure = error }
        }
        if info.methods.contains(.hashedPassword), let path = credentials.passwordFile {
            do { ways.append(.password(try password(at: path))) } catch { failure = error }
        }
        if ways.isEmpty, let failure { throw failure }
        return ways
    }

    fileprivate static func contents(ofCookie path: String) throws(ControlError) -> [UInt8] {
        let bytes: [UInt8]
        do { bytes = try PrivateFile.read(path, limit: 4096) } catch { throw .cookieUnreadable(error) }
        guard bytes.count == 32 else { throw .cookieMalformed(path: path) }
        return bytes
    }

    private static func password(at path: String) throws(ControlError) -> [UInt8] {
        var bytes: [UInt8]
        do { bytes = try PrivateFile.read(path, limit: 4096) } catch { throw .passwordUnreadable(error) }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
