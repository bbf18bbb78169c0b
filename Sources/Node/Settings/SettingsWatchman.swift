import Reactor
import Relay
import Tor

extension Settings {
    /// A Bisq whose silence rings.
    package struct Watch: Sendable {
        package enum Address: Equatable, Sendable {
            case onion(OnionAddress, port: UInt16)
            /// An address on this machine.
            case local(Endpoint)

            init?(_ text: String) {
                if let endpoint = Endpoint(text), endpoint.isLoopback {
                    self = .local(endpoint)
                    return
                }
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count == 2, let address = OnionAddress(String(parts[0])),
                    let port = UInt16(parts[1]), port > 0
                else { return nil }
                self = .onion(address, port: port)
            }
        }

        package enum Kind: String, CaseIterable, Sendable {
            /// A Bisq 1. The watchman sends it a Ping, which it answers.
            case bisq1
            /// A Bisq 2. The watchman only opens a connection: Bisq 2 answers strangers nothing that shows whether it works.
            case bisq2
        }

        package var name = ""
        package var address: Address
        package var kind = Kind.bisq1
        package var interval: Duration = .seconds(600)
        package var misses = 3
        /// A name of the phone book.
        package var ring = ""
    }

    /// Reads `watchman`.
    func watchman(_ sections: [SettingsReader.Section]) -> [Watch] {
        var watches: [Watch] = []
        for section in sections {
            let name = section.identifier("name")
            let text = section.text("address")
            let address = Watch.Address(text)
            // A wrong letter is a fault already.
            if address == nil, OnionName.wrong(in: text) == nil {
                section.fault(
                    "address", "must be ADDRESS.onion:PORT, or ADDRESS:PORT on this machine")
            }
            var watch = Watch(name: name, address: address ?? .local(.host("127.0.0.1", port: 1)))
            watch.kind = section.choice("kind", default: watch.kind)
            watch.interval = section.seconds("interval", default: watch.interval, in: 60...86400)
            watch.misses = section.integer("misses", default: watch.misses, in: 1...100)
            watch.ring = section.text("ring")
            if !PhoneBook.isName(watch.ring) {
                section.fault("ring", "must be a name of the phone book: onionbell phones list")
            }
            if watches.contains(where: { $0.name == name }) {
                section.fault("name", "\(name) is there twice")
            }
            section.refuseUnknownKeys()
            watches.append(watch)
        }
        return watches
    }
}
