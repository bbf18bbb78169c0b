import Client
import Processes
import Reactor
import Tor

/// The tor of a command: one whose SOCKS port was named, or one of the command's own.
@EventLoop
package final class WatchTor {
    package enum Source {
        case socks(Endpoint)
        /// A tor of the command's own.
        ///
        /// - Parameter directory: Where it keeps what it knows of the network, its guards above all; `nil`:
        ///   nowhere.
        case own(binary: String, torrc: String, directory: String? = nil)
    }

    private let source: Source
    private var client: TorClient?
    private var directory: TemporaryDirectory?

    package init(_ source: Source) { self.source = source }

    /// Starts a tor of its own if there is none, or none any more.
    package func socks() async throws -> Endpoint {
        let (binary, torrc, kept): (String, String, String?)
        switch source {
        case .socks(let endpoint): return endpoint
        case .own(let program, let configuration, let directory):
            (binary, torrc, kept) = (program, configuration, directory)
        }
        if let client, client.connection.end == nil { return client.socks }
        await stop()
        let path: String
        if let kept {
            try PrivateFile.makeDirectory(kept)
            path = kept
        } else {
            let directory = try TemporaryDirectory()
            self.directory = directory
            path = directory.path
        }
        let client = try await TorClient.start(
            binary: binary, torrc: torrc, directory: path, within: .seconds(180)
        ) { _ in }
        self.client = client
        return client.socks
    }

    /// Returns the way to a node, by the tor if the node is behind an onion address.
    package func route(to node: CalledNode) async throws -> PeerRoute {
        switch node {
        case .direct(let endpoint): .direct(endpoint)
        case .onion(let onion, let port): .tor(socks: try await socks(), onion: onion, port: port)
        }
    }

    package func stop() async {
        await client?.stop()
        client = nil
        await directory?.remove()
        directory = nil
    }
}
