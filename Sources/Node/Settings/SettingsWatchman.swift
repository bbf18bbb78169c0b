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
        package var address = Address.local(.host("127.0.0.1", port: 1))
        package var kind = Kind.bisq1
        package var interval: Duration = .seconds(600)
        package var misses = 3
        /// A name of the phone book.
        package var ring = ""
    }

    /// Reads `watchman`.
    mutating func readWatchman(_ root: SettingsReader.Section) {
        let sections = root.list("watchman")
        for section in sections {
            var watch = Watch()
            section.identifier("name", &watch.name)
            var text = ""
            section.text("address", &text)
            if let address = Watch.Address(text) {
                watch.address = address
            } else if OnionName.wrong(in: text) == nil {
                // A wrong letter is a fault already.
                section.fault(
                    "address", "must be ADDRESS.onion:PORT, or ADDRESS:PORT on this machine")
            }
            section.choice("kind", &watch.kind)
            section.seconds("interval", &watch.interval, in: 60...86400)
            section.integer("misses", &watch.misses, in: 1...100)
            section.text("ring", &watch.ring)
            if !PhoneBook.isName(watch.ring) {
                section.fault("ring", "must be a name of the phone book: onionbell phones list")
            }
            if watchman.contains(where: { $0.name == watch.name }) {
                section.fault("name", "\(watch.name) is there twice")
            }
            watchman.append(watch)
        }
    }
}
