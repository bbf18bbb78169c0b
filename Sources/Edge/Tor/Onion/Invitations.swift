import Encodings
import Glibc
import Reactor

/// The invitations to a private node: a directory with one file for each peer, which holds its public key.
///
///     <name>.auth          descriptor:x25519:<52 characters>
///
/// Without the directory the node is public: everybody who knows its address finds it. With it, and be it empty, only
/// those invited do.
package struct Invitations: Sendable {
    package let path: String

    /// Together they must fit into the descriptor of an onion service, which has 50,000 bytes at most.
    package static let limit = 200
    private static let ending = ".auth"

    package init(path: String) { self.path = path }

    /// Whether a text can be a name: 1 to 64 letters, digits, `-` and `_`.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_")
            }
    }

    /// Reads the keys of those invited, by name; `nil`: the node is public.
    package func load() throws(InvitationError) -> [String: ClientKey]? {
        var keys: [String: ClientKey] = [:]
        do throws(SystemError) {
            for file in try PrivateFile.names(in: path) where file.hasSuffix(Self.ending) {
                let name = String(file.dropLast(Self.ending.count))
                let bytes = try PrivateFile.read("\(path)/\(file)", limit: Self.longestFile)
                guard let key = Self.key(of: bytes) else {
                    throw SystemError("read \(path)/\(file), which contains no client key", code: EINVAL)
                }
                keys[name] = key
            }
        } catch {
            if error.code == ENOENT, access(path, F_OK) != 0 { return nil }
            throw .system(error)
        }
        return keys
    }

    /// Bytes of a peer's file, and more.
    private static let longestFile = 256

    /// Returns the key in a peer's file; `nil`: there is none.
    package static func key(of file: [UInt8]) -> ClientKey? {
        guard file.count <= longestFile else { return nil }
        return String(decoding: file, as: UTF8.self).split(separator: "\n").first.flatMap {
            ClientKey(line: $0)
        }
    }

    /// Invites a peer; from the first on the node is private.
    ///
    /// - Returns: what the peer needs. It is not kept.
    package func invite(_ name: String) throws(InvitationError) -> ClientSecret {
        guard Self.isName(name) else { throw .unfitName(name) }
        let present = try load() ?? [:]
        guard present[name] == nil else { throw .invitedAlready(name) }
        guard present.count < Self.limit else { throw .tooMany }
        let secret = ClientSecret.generate()
        do throws(SystemError) {
            try PrivateFile.makeDirectory(path)
            try PrivateFile.write(secret.publicKey.line + "\n", to: file(of: name), replacing: false)
        } catch {
            throw error.code == EEXIST ? .invitedAlready(name) : .system(error)
        }
        return secret
    }

    /// Takes an invitation back. The node stays private, also without any.
    package func revoke(_ name: String) throws(InvitationError) {
        guard Self.isName(name) else { throw .unfitName(name) }
        guard unlink(file(of: name)) == 0 else {
            throw errno == ENOENT ? .notInvited(name) : .system(SystemError("remove \(file(of: name))"))
        }
    }

    /// Takes all invitations back, and lets everybody in again.
    package func makePublic() throws(InvitationError) {
        do throws(SystemError) {
            for file in try PrivateFile.names(in: path) where unlink("\(path)/\(file)") != 0 {
                throw SystemError("remove \(path)/\(file)")
            }
            guard rmdir(path) == 0 else { throw SystemError("remove \(path)") }
        } catch {
            throw .system(error)
        }
    }

    private func file(of name: String) -> String { "\(path)/\(name)\(Self.ending)" }
}

package enum InvitationError: Error, Equatable, Sendable, CustomStringConvertible {
    case unfitName(String)
    case invitedAlready(String)
    case notInvited(String)
    case tooMany
    case system(SystemError)

    package var description: String {
        switch self {
        case .unfitName: "a peer's name has 1 to 64 letters, digits, - and _"
        case .invitedAlready(let name): "\(name) is invited already; revoke that first to make a new key"
        case .notInvited(let name): "\(name) is not invited"
        case .tooMany: "\(Invitations.limit) clients are authorized, the maximum for an onion service"
        case .system(let error): "the invitations: \(error)"
        }
    }
}
