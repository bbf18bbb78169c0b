import Crypto
import Encodings

/// The form in which the service is given to tor, how it holds against floods, and whom it lets in.
package struct OnionForm: Equatable, Sendable {
    package struct Rate: Equatable, Sendable {
        package var perSecond: Int
        package var burst: Int

        package init(perSecond: Int, burst: Int) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }

    /// The directory of a service of tor's configuration, which tells the circuit of each connection in a
    /// ``Wire/ProxyLine``: only for a tor of our own, since it replaces all such services that tor has. `nil`: a service
    /// of the control connection, where tor can't tell circuits.
    package var directory: String?
    /// Streams that one circuit may hold open; on one more tor closes the circuit. 0: no limit.
    package var streamsPerCircuit = 0
    /// Clients that show no proof of work get in at this rate; when more come, tor asks for work, the more the longer
    /// the queue. `nil`: no such defence.
    package var proofOfWork: Rate?
    /// The rate that each introduction point lets through; the rest is lost, honest or not. Only with a ``directory``.
    package var introductions: Rate?
    /// The only clients that find the service; `nil`: everybody who knows the address does.
    package var clients: Set<ClientKey>?
    /// The address of an onionbalance: what it lets come by our introduction points is for us too. Only with a
    /// ``directory``. Our own address is no such front.
    package var front: OnionAddress?
    /// Services of the same tor.
    package var neighbours: [NeighbourService] = []

    package init() {}

    /// Whether a service ID, 56 characters of base32, is that of a neighbour.
    func hasNeighbour(_ serviceID: String) -> Bool {
        neighbours.contains { $0.address.serviceID == serviceID }
    }

    /// Returns the command that gives the service to tor.
    ///
    /// - Parameter own: the key by which our own tor may find the service, if it is private.
    func command(key: OnionKey, ports: [VirtualPort], own: ClientKey?) -> ControlCommand {
        guard let directory else { return addOnion(key: key, ports: ports, own: own) }
        var options = options(directory: directory, ports: ports, hasFront: front(of: key.address) != nil)
        // Each begins with its directory; whatever is left out is taken from tor.
        for neighbour in neighbours {
            guard let directory = neighbour.form.directory else { continue }
            options += neighbour.form.options(directory: directory, ports: neighbour.ports, hasFront: false)
        }
        return .setConfiguration(options)
    }

    /// Returns a command without `Detach`: tor takes the service back when the connection ends, so that none
    /// outlives the node.
    private func addOnion(key: OnionKey, ports: [VirtualPort], own: ClientKey?) -> ControlCommand {
        var flags = ["DiscardPK"]
        var arguments: [String] = []
        if streamsPerCircuit > 0 {
            flags.append("MaxStreamsCloseCircuit")
            arguments.append("MaxStreams=\(streamsPerCircuit)")
        }
        if let proofOfWork {
            arguments += [
                "PoWDefensesEnabled=1", "PoWQueueRate=\(proofOfWork.perSecond)",
                "PoWQueueBurst=\(proofOfWork.burst)",
            ]
        }
        if clients != nil { flags.append("V3Auth") }
        arguments += authorized(own).map { "ClientAuthV3=\($0.base32)" }
        return ControlCommand(
            "ADD_ONION",
            ["ED25519-V3:\(Base64.encode(key.expandedBytes))", "Flags=\(flags.joined(separator: ","))"]
                + arguments + ports.map { "Port=\($0.number),\($0.target)" })
    }

    /// Returns the address that stands before the service of this one; `nil`: none.
    func front(of address: OnionAddress) -> OnionAddress? { front == address ? nil : front }

    private func options(
        directory: String, ports: [VirtualPort], hasFront: Bool
    ) -> [(key: String, value: String)] {
        var options = [(key: "HiddenServiceDir", value: directory)]
        options += ports.map { ("HiddenServicePort", $0.option) }
        options.append(("HiddenServiceExportCircuitID", "haproxy"))
        if streamsPerCircuit > 0 {
            options += [
                ("HiddenServiceMaxStreams", "\(streamsPerCircuit)"),
                ("HiddenServiceMaxStreamsCloseCircuit", "1"),
            ]
        }
        if let proofOfWork {
            options += [
                ("HiddenServicePoWDefensesEnabled", "1"),
                ("HiddenServicePoWQueueRate", "\(proofOfWork.perSecond)"),
                ("HiddenServicePoWQueueBurst", "\(proofOfWork.burst)"),
            ]
        }
        if let introductions {
            options += [
                ("HiddenServiceEnableIntroDoSDefense", "1"),
                ("HiddenServiceEnableIntroDoSRatePerSec", "\(introductions.perSecond)"),
                ("HiddenServiceEnableIntroDoSBurstPerSec", "\(introductions.burst)"),
            ]
        }
        if hasFront { options.append(("HiddenServiceOnionBalanceInstance", "1")) }
        return options
    }

    /// Returns the keys of all who are to find a private service, in the order of their bytes: at least one, since tor takes
    /// a service without keys for a public one, or refuses it. None for a public service.
    func authorized(_ own: ClientKey?) -> [ClientKey] {
        guard let clients else { return [] }
        let keys = own.map { clients.union([$0]) } ?? clients
        // The secret half of this key goes with this call.
        return keys.isEmpty
            ? [ClientSecret.generate().publicKey]
            : keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Returns a digest of all that tor is told of a service, by which a successor sees whether it would tell the same.
    func digest(key: OnionKey, ports: [VirtualPort], own: ClientKey?) -> [UInt8] {
        var words = [
            command(key: key, ports: ports, own: own).line, front(of: key.address)?.description ?? "",
        ]
        words += authorized(own).map(\.base32)
        for neighbour in neighbours {
            words.append(neighbour.form.command(key: neighbour.key, ports: neighbour.ports, own: nil).line)
            words += neighbour.form.authorized(nil).map(\.base32)
        }
        return Hash.sha256(Array(words.joined(separator: "\n").utf8))
    }

    /// Whether clients find a service of this form, or a neighbour of it, that are not to find it in another form.
    func letsIn(moreThan other: OnionForm) -> Bool {
        let isMore = neighbours.contains { neighbour in
            neighbour.letsIn(moreThan: other.neighbours.first { $0.address == neighbour.address })
        }
        guard let others = other.clients else { return isMore }
        return isMore || (clients.map { !$0.isSubset(of: others) } ?? true)
    }
}
