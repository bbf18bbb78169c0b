import Reactor

extension Settings {
    /// The places at which the settings have the node listen, with their keys. Those that it chooses itself, in the state
    /// directory, are not among them.
    package var listeners: [(key: String, endpoint: Endpoint)] {
        var listeners: [(key: String, endpoint: Endpoint)] = [("management.listen", managementListen)]
        let tor = [("onion.peer_listen", onion.peerListen), ("onion.http_listen", onion.httpListen)]
        for case (let key, let endpoint?) in tor { listeners.append((key, endpoint)) }
        listeners += nodeFeatures.flatMap(\.listeners)
        for (key, places) in features.flatMap(\.places) {
            for place in places {
                switch place {
                case .plain(let endpoint), .https(let endpoint): listeners.append((key, endpoint))
                case .onion: break
                }
            }
        }
        return listeners
    }
}
