import Programs
import Reactor
import Tor

/// The tor by which a node is watched: one whose SOCKS port was named, or one of the watch's own.
@EventLoop
final class WatchTor {
    enum Source {
        case socks(Endpoint)
        case own(binary: String, torrc: String)
    }

    private let source: Source
    private var client: TorClient?
    private var directory: TemporaryDirectory?

    init(_ source: Source) { self.source = source }

    /// Starts a tor of its own if there is none, or none any more.
    func socks() async throws -> Endpoint {
        let (binary, torrc): (String, String)
        switch source {
        case .socks(let endpoint): return endpoint
        case .own(let program, let configuration): (binary, torrc) = (program, configuration)
        }
        if let client, client.connection.end == nil { return client.socks }
        await stop()
        let directory = try TemporaryDirectory()
        self.directory = directory
        let client = try await TorClient.start(
            binary: binary, torrc: torrc, directory: directory.path, within: .seconds(180)
        ) { _ in }
        self.client = client
        return client.socks
    }

    func stop() async {
        await client?.stop()
        client = nil
        await directory?.remove()
        directory = nil
    }
}
