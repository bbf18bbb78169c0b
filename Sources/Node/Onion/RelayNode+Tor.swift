import Gateways
import Reactor
import Relay
import Tor

/// How the node's own connections go out, and the tor they go through.
extension RelayNode {
    var egress: Egress {
        switch settings.proxy {
        case .none: .direct
        case .tor: torEgress
        case .socks5(let proxy): .through(proxy)
        }
    }

    var torEgress: Egress { .tor { [weak self] in self?.presence?.socks } }

    /// It is no earlier than the beginning of what tor knows of the network.
    var torTime: ToldTime? {
        presence?.figures.consensusFrom.map {
            ToldTime(unixMilliseconds: $0 * 1000, monotonicNanoseconds: EventLoop.monotonicNanoseconds)
        }
    }

    /// Refuses to hand on to this node itself: a notification would go round and be lost.
    func refuseLoop() throws(NodeError) {
        guard settings.apps.contains(where: { !$0.settings.upstreams.isEmpty }),
            let own = try? OnionKeyFile(path: state.onionKey).load()?.address.description
        else { return }
        for (index, app) in settings.apps.enumerated()
        where app.settings.upstreams.contains(where: { $0.host == own }) {
            throw .configuration("apps[\(index)].url: \(own) is this node's own address")
        }
    }

    /// Nobody would find it.
    func refusePrivateFront() throws(NodeError) {
        if let fault = settings.frontFaults.first { throw .configuration("\(fault)") }
    }

    /// That clients use.
    func publicAddress(orOwn own: OnionAddress?) -> String? {
        settings.onion.publicAddress.isEmpty ? own?.description : settings.onion.publicAddress
    }

    func torSource() throws(NodeError) -> OnionPresence.Settings.Source {
        switch settings.tor.mode {
        case .own:
            .own(
                TorProcess.Settings(
                    binary: settings.tor.binary,
                    torrc: try TorConfiguration.path(setting: settings.tor.torrc),
                    dataDirectory: state.torDirectory,
                    offersSocks: settings.needsSOCKS))
        case .instance, .system:
            .running(
                control: settings.tor.control, settings.tor.credentials,
                isOurs: settings.tor.mode == .instance)
        }
    }
}
