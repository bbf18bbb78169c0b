import Clocks
import Doors
import Gateways
import Reactor
import Relay
import Tor

/// How the node's own connections go out, and the tor they go through.
extension Settings {
    /// Returns the way out that `gateways.proxy` names.
    ///
    /// - Parameter tor: the way through the node's tor.
    package func egress(orBy tor: Egress) -> Egress {
        switch proxy {
        case .none: .direct
        case .tor: tor
        case .socks5(let proxy): .through(proxy)
        }
    }

    /// Throws where the node would hand on to itself, so that a notification would go round and be lost.
    func refuseLoop(as key: OnionKeyFile) throws(NodeError) {
        guard apps.contains(where: { !$0.settings.upstreams.isEmpty }),
            let own = try? key.load()?.address.description
        else { return }
        if let fault = loopFault(at: own) { throw .configuration("\(fault)") }
    }

    /// Returns the fault of an app that would hand on to the node itself; `nil`: none does.
    ///
    /// - Parameter own: The node's own address.
    package func loopFault(at own: String) -> SettingsFault? {
        for (index, app) in apps.enumerated()
        where app.settings.upstreams.contains(where: { $0.host.hasSameBytes(as: own) }) {
            return SettingsFault(key: "apps[\(index)].url", problem: "\(own) is this node's own address")
        }
        return nil
    }

    /// Returns the address that clients use.
    func publicAddress(orOwn own: OnionAddress?) -> String? {
        onion.publicAddress.isEmpty ? own?.description : onion.publicAddress
    }

    /// The settings of the circuits by which clients come to the onion address.
    var onionCircuits: CircuitsSettings {
        var circuits = circuits
        circuits.knowsCircuits = isGuarded
        circuits.areShared = !isGuarded
        return circuits
    }

    /// Returns the settings of the onion presence.
    ///
    /// - Parameters:
    ///   - clients: Those who are invited; `nil`: everybody.
    ///   - own: The questions at the node's own doors.
    @EventLoop
    func presence(
        in state: borrowing StateDirectory, clients: Set<ClientKey>?, own: OwnDoors
    ) throws(NodeError) -> OnionPresenceSettings {
        var presence = OnionPresenceSettings(
            source: try torSource(state.torDirectory), key: OnionKeyFile(path: state.onionKey))
        presence.socks = tor.socks
        presence.heartbeat = tor.heartbeat
        presence.uploadTime = onion.uploadTimeout
        presence.selfDial = onion.selfDial
        presence.selfDial.doors = own.doors(of: onion)
        presence.selfDial.front = OnionAddress(onion.publicAddress)
        // It would be closed as idle.
        presence.selfDial.lineInterval = min(presence.selfDial.lineInterval, peers.idleTimeout / 2)
        presence.form = onionForm(torDirectory: state.torDirectory)
        presence.form.clients = clients
        return presence
    }

    private func torSource(_ directory: String) throws(NodeError) -> OnionPresenceSettings.Source {
        switch tor.mode {
        case .own:
            .own(
                TorProcessSettings(
                    binary: tor.binary, torrc: try TorConfiguration.path(setting: tor.torrc),
                    dataDirectory: directory, offersSocks: needsSOCKS))
        case .instance, .system:
            .running(control: tor.control, tor.credentials, isOurs: tor.mode == .instance)
        }
    }
}

extension OnionPresence {
    /// The earliest time that it can be, by tor: the beginning of its consensus of the network.
    var torTime: ToldTime? {
        figures.consensusFrom.map {
            ToldTime(
                unix: UnixTime(milliseconds: $0 * 1000), monotonic: EventLoop.now, isExact: false)
        }
    }
}
