import Encodings
import Gateways
import Reactor
import Relay

/// The kinds of values that only the node's own settings have.
extension SettingsReader.Section {
    /// Reads a text that must not be empty.
    func word(_ name: String, _ value: inout String) {
        text(name, &value)
        if value.isEmpty { fault(name, "must not be empty") }
    }

    func port(_ name: String, _ value: inout UInt16) {
        var port = Int(value)
        integer(name, &port, in: 1...65535)
        value = UInt16(port)
    }

    func endpoint(_ name: String, _ value: inout Endpoint) {
        self.value(name, &value, .place, usual: "\(value)", expecting: "ADDRESS:PORT or unix:/PATH") {
            Endpoint($0)
        }
    }

    func optionalEndpoint(_ name: String, _ value: inout Endpoint?) {
        self.value(
            name, &value, .place, usual: value.map { "\($0)" } ?? "",
            expecting: "ADDRESS:PORT, unix:/PATH, or nothing"
        ) { $0.isEmpty ? .some(nil) : Endpoint($0).map { .some($0) } }
    }

    /// Reads the name of an app for phones of this platform, or nothing.
    package func app(_ key: String, _ app: inout String, of platform: Platform) {
        var name = app
        identifier(key, &name, .app(platform))
        guard !name.isEmpty else { return }
        guard reader.appNames.contains(name) else {
            return fault(key, "no app has the name \(name)\(hint(at: name, among: reader.appNames))")
        }
        app = name
        // An app whose gateway is missing has a fault already.
        guard let service = reader.apps.first(where: { $0.name == name })?.service else { return }
        if service.prefix != nil {
            fault(
                key, "\(name) is of gateway \(service.name), which is found by the address: name another app")
        } else if !service.serves(platform) {
            fault(key, "\(name) is of gateway \(service.name), which serves no \(platform) phones")
        }
    }

    /// Reads a list of what such texts stand for. A fault leaves it empty.
    ///
    /// - Parameter isAllowed: Whether the values may stand together.
    package func list<Value>(
        _ name: String, _ rule: String, isAllowed: ([Value]) -> Bool = { _ in true },
        parse: (String) -> Value?
    ) -> [Value] {
        let values = words(name)?.map(parse) ?? [nil]
        let known = values.compactMap(\.self)
        guard known.count == values.count, isAllowed(known) else {
            fault(name, rule)
            return []
        }
        return known
    }

    /// Reads addresses that begin alike, as `10.0.0.0/8`.
    package func networks(_ name: String) -> [NetworkAddress.Range] {
        list(name, "must be a list of addresses or networks: [127.0.0.1, 10.0.0.0/8, fd00::/8]") {
            NetworkAddress.Range($0)
        }
    }

    /// Reads a list of places, each once.
    package func places(_ name: String) -> [DoorPlace] {
        list(
            name,
            "must be a list of onion:PORT, https://ADDRESS:PORT, or, on this machine only, ADDRESS:PORT and unix:/PATH, each once: [onion:80, 127.0.0.1:8080]",
            isAllowed: { Set($0).count == $0.count }
        ) { DoorPlace($0) }
    }
}
