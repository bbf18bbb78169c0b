import Glibc
import Reactor
import Tor

/// The places at which tor hands streams over to the doors of the onion address: Unix sockets in a directory of their own,
/// so that nobody else on this machine can connect, and say of himself what tor says of clients.
package struct DoorSockets {
    package let directory: String
    /// Tor runs as another user, who comes in by the directory's group.
    private let isForGroup: Bool
    private let isGuarded: Bool

    /// The directory for a tor that is no child of ours. The package makes it for the node alone; one for a group is the
    /// operator's.
    static let runtimeDirectory = "/run/onionbell"
    /// The kernel's limit for the path of a Unix socket, in bytes.
    private static let longestPath = 107

    package init(_ settings: Settings) {
        isForGroup = settings.tor.mode == .system
        isGuarded = settings.isGuarded
        let usual =
            settings.tor.mode == .own ? settings.stateDirectory + "/sockets" : Self.runtimeDirectory
        directory = settings.onion.socketDirectory.isEmpty ? usual : settings.onion.socketDirectory
    }

    /// Makes the directory with mode 0700, unless it is for a group: that one is the operator's to make.
    package func prepare() throws(NodeError) {
        guard !isForGroup else { return }
        do {
            try PrivateFile.makeDirectory(directory)
        } catch {
            throw .unavailable("\(error). Set onion.socket_directory to one that this user owns")
        }
    }

    /// Opens a door for tor.
    ///
    /// - Parameters:
    ///   - name: of the socket.
    ///   - set: where the settings want the door instead, and in which key.
    /// - Returns: Where it listens, with the real port.
    package func open(
        _ name: String, orAt set: (key: String, endpoint: Endpoint?) = ("onion.socket_directory", nil),
        _ open: (Endpoint) throws(SystemError) -> Endpoint
    ) throws(NodeError) -> Endpoint {
        let endpoint = set.endpoint ?? .unix(path: "\(directory)/\(name)")
        if case .unix(let path) = endpoint, let words = unfitness(of: path) { throw .configuration(words) }
        do {
            let opened = try open(endpoint)
            if isForGroup, case .unix(let path) = opened, chmod(path, 0o660) != 0 {
                throw SystemError("let the group connect to \(path)")
            }
            return opened
        } catch {
            throw .unavailable("\(error). \(advice(for: set.endpoint == nil ? nil : set.key))")
        }
    }

    /// Returns why no door can be opened in the directory, found before a start.
    func fault(in settings: Settings) -> SettingsFault? {
        let places = [("peers", settings.onion.peerListen), ("http", settings.onion.httpListen)]
        for (name, set) in places where set == nil {
            guard let words = unfitness(of: "\(directory)/\(name)") else { continue }
            let key = settings.onion.socketDirectory.isEmpty ? "state_directory" : "onion.socket_directory"
            return SettingsFault(key: key, problem: words)
        }
        return nil
    }

    private func unfitness(of path: String) -> String? {
        let advice = "set onion.socket_directory to another one, which only this user can enter"
        if path.utf8.count > Self.longestPath {
            return
                "\(path) is \(path.utf8.count) bytes long, and a Unix socket takes \(Self.longestPath): \(advice)"
        }
        do throws(VirtualPortError) {
            _ = try VirtualPort(1, to: .unix(path: path))
        } catch {
            return "\(error): \(advice)"
        }
        guard !isGuarded, VirtualPort.needsQuotes(path) else { return nil }
        return
            "tor can't connect an onion port to \(path) unless onion.guarded is on: its path has blanks, commas or "
            + "letters beyond ASCII: \(advice)"
    }

    private func advice(for key: String?) -> String {
        if let key { return "Stop the program that uses it, or set \(key) to another address" }
        return isForGroup
            ? "Create \(directory) for the node's user and a group of tor's user (RunningForReal.md)"
            : "Stop the program that uses it, or set onion.socket_directory to another directory"
    }
}
