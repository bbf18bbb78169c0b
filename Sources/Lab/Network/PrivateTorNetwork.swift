import Glibc
import Processes
import Reactor
import Tor

/// A whole Tor network on loopback: three directory authorities that are relays too, and two further relays.
///
/// Clients are in it about 10 s after ``start(tor:progress:)`` was called. It sends nothing to any other machine. All its
/// processes end with this one, however it ends; ``stop()`` also removes their files.
///
/// The settings were found by measurement: what made a start slow, or fail one time in ten, is noted beside each.
@EventLoop
package final class PrivateTorNetwork {
    /// The lines for the torrc of a node or client that make any tor a member.
    package let torrcLines: [String]

    private let binary: String
    private let directory: LabDirectory
    private let authorities: [LabTor]
    private let relays: [LabTor]
    private var clients: [LabTor] = []
    private var clientCount = 0

    private static let authorityCount = 3
    /// The number of relays beside the authorities. They are five together: onion circuits have four hops,
    /// and none may be its own neighbour.
    private static let relayCount = 2

    private init(
        _ binary: String, _ directory: LabDirectory, _ torrcLines: [String], _ authorities: [LabTor],
        _ relays: [LabTor]
    ) {
        self.binary = binary
        self.directory = directory
        self.torrcLines = torrcLines
        self.authorities = authorities
        self.relays = relays
    }

    /// Starts the network.
    ///
    /// - Parameters:
    ///   - tor: the binary; `tor-gencert` is looked for beside it.
    ///   - progress: what is being done, in words for a reader.
    package static func start(
        tor: String = "tor", progress: @EventLoop (String) -> Void = { _ in }
    ) async throws(LabError) -> PrivateTorNetwork {
        let sweeping = TemporaryDirectory.removingLeftOvers()
        let directory = try LabDirectory()
        do {
            let network = try await start(tor, in: directory, progress)
            _ = try? await sweeping?.finish()
            return network
        } catch {
            await directory.remove()
            throw error
        }
    }

    private static func start(
        _ tor: String, in directory: LabDirectory, _ progress: @EventLoop (String) -> Void
    ) async throws(LabError) -> PrivateTorNetwork {
        progress("making the keys of \(authorityCount) directory authorities")
        let ports: [UInt16]
        do { ports = try freePorts(2 * authorityCount + relayCount) } catch { throw .files(error) }
        var keys: [AuthorityKeys] = []
        for index in 0..<authorityCount {
            keys.append(
                try AuthorityKeys(
                    tor: tor, name: "authority\(index + 1)", in: directory, orPort: ports[2 * index],
                    dirPort: ports[2 * index + 1]))
        }
        var identities: [AuthorityIdentity] = []
        for keys in keys { identities.append(try await keys.finish()) }
        let torrcLines = PrivateTorrc.member(of: identities)

        progress("starting \(authorityCount + relayCount) relays, \(authorityCount) of them authorities")
        var authorities: [LabTor] = []
        for identity in identities {
            authorities.append(
                try LabTor(
                    tor, name: identity.name, dataDirectory: identity.dataDirectory,
                    lines: torrcLines + PrivateTorrc.authority(identity)))
        }
        for authority in authorities { try await authority.connect() }
        var relays: [LabTor] = []
        for index in 0..<relayCount {
            let name = "relay\(index + 1)"
            relays.append(
                try LabTor(
                    tor, name: name, dataDirectory: try directory.make(name),
                    lines: torrcLines + PrivateTorrc.relay(name, orPort: ports[2 * authorityCount + index])))
        }
        for relay in relays { try await relay.connect() }

        progress("waiting until every authority knows every relay")
        let vote = DirectoryVote(authorities: authorities)
        try await vote.waitForDescriptors(authorityCount + relayCount)
        progress("the authorities vote on the state of the network")
        try await vote.hold()
        return PrivateTorNetwork(tor, directory, torrcLines, authorities, relays)
    }

    /// Starts a tor that is a member, with a SOCKS port on a free port, and returns when it is in the network.
    ///
    /// - Parameter lines: more lines for its torrc.
    package func startTor(_ lines: [String] = []) async throws(LabError) -> LabTor {
        clientCount += 1
        let name = "client\(clientCount)"
        let dataDirectory = try directory.make(name)
        try seed(dataDirectory: dataDirectory)
        let client = try LabTor(
            binary, name: name, dataDirectory: dataDirectory,
            lines: torrcLines + ["ClientOnly 1", "SocksPort auto"] + lines)
        clients.append(client)
        try await client.connect()
        try await client.waitUntilBootstrapped()
        return client
    }

    /// Copies what a tor would fetch first into its empty data directory: it is in the network after 1 to 2 s instead of
    /// 12. Makes the directory, mode 0700, if it is not there.
    package func seed(dataDirectory: String) throws(LabError) {
        guard mkdir(dataDirectory, 0o700) == 0 || errno == EEXIST else {
            throw .files(SystemError("make directory \(dataDirectory)"))
        }
        for file in [
            "cached-certs", "cached-microdesc-consensus", "cached-microdescs", "cached-microdescs.new",
        ] {
            let source = "\(authorities[0].dataDirectory)/\(file)"
            guard access(source, R_OK) == 0 else { continue }
            try LabDirectory.write(LabDirectory.read(source), to: "\(dataDirectory)/\(file)")
        }
    }

    /// Writes a torrc that makes a tor a member: the project's, if given, then the network's lines and those given.
    package func writeTorrc(
        basedOn torrc: String? = nil, to path: String, lines: [String] = []
    ) throws(LabError) {
        let network =
            "\n# The private network of the Lab.\n" + (torrcLines + lines).joined(separator: "\n") + "\n"
        let base = if let torrc { try LabDirectory.read(torrc) } else { [UInt8]() }
        try LabDirectory.write(base + Array(network.utf8), to: path)
    }

    /// Stops all relays and authorities until ``goOn()``: who is in the network is cut off, and hears no end
    /// of any connection.
    package func standStill() { signal(SIGSTOP) }
    package func goOn() { signal(SIGCONT) }

    private func signal(_ number: CInt) {
        for tor in authorities + relays { Glibc.kill(tor.processID, number) }
    }

    /// Kills all processes of the network and removes their files.
    package func stop() async {
        for tor in clients + relays + authorities { await tor.kill() }
        clients = []
        await directory.remove()
    }
}
