import Doors
import Gateways
import Logging
import Reactor
import Relay
import Tor
import Wire

/// Everything an operator can set, checked. `Deploy/onionbell.yaml` explains each key.
package struct Settings: Sendable {
    /// The path at which the package installs the settings file.
    package static let standardFile = "/etc/onionbell/onionbell.yaml"
    package static let standardStateDirectory = "/var/lib/onionbell"

    package struct Tor: Sendable {
        package enum Mode: String, CaseIterable, Sendable { case own, instance, system }

        /// The control socket of the package's unit for an instance.
        package static let instanceControl = "unix:/run/onionbell-tor/control"

        package var mode = Mode.own
        package var binary = "tor"
        /// Empty: the torrc that comes with the program.
        package var torrc = ""
        package var control = Endpoint.host("127.0.0.1", port: 9051)
        /// Empty: as tor itself says.
        package var cookieFile = ""
        package var passwordFile = ""
        /// Tor's SOCKS address; `nil`: as tor itself says.
        package var socks: Endpoint?
        /// How often tor is asked how it is.
        package var heartbeat: Duration = .seconds(20)

        package var credentials: ControlCredentials {
            ControlCredentials(
                cookieFile: cookieFile.isEmpty ? nil : cookieFile,
                passwordFile: passwordFile.isEmpty ? nil : passwordFile)
        }

        /// The directory that an instance shares with the node, that of its control socket. `nil` without such a socket.
        package var instanceDirectory: String? {
            guard case .unix(let path) = control, let slash = path.lastIndex(of: "/") else { return nil }
            return String(path[..<slash])
        }
    }

    package struct Onion: Sendable {
        package var peerPort: UInt16 = 9999
        package var httpPorts: [UInt16] = [80, 8021]
        package var network = BisqNetwork.mainnet
        /// The address that clients know, where it is not the node's own; empty: it is.
        package var publicAddress = ""
        /// The endpoint at which tor hands the peers' streams over, port 0: any free one; `nil`: a Unix socket in
        /// ``socketDirectory``.
        package var peerListen: Endpoint?
        /// The endpoint at which tor hands HTTP's streams over.
        package var httpListen: Endpoint?
        /// Empty: see ``DoorSockets``.
        package var socketDirectory = ""
        package var uploadTimeout: Duration = .seconds(180)
        /// Calls to the own address; without the doors that are called.
        package var selfDial = SelfDialSettings()
        /// Whether the service takes, with a managed Tor, the form in which tor tells the circuit of each
        /// connection.
        package var isGuarded = true
        /// 0: no limit.
        package var streamsPerCircuit = 64
        package var hasProofOfWork = true
        package var work = OnionForm.Rate(perSecond: 250, burst: 2500)
        /// 0 a second: no limit.
        package var introductions = OnionForm.Rate(perSecond: 0, burst: 200)
    }

    package struct App: Sendable {
        package var name = ""
        /// The settings that the folder of its gateway has read.
        package var settings: any ConfiguredApp
        /// Whose phones it rings.
        package var targets: Relay.App.Targets

        package init(name: String, settings: any ConfiguredApp, targets: Relay.App.Targets = .any) {
            self.name = name
            self.settings = settings
            self.targets = targets
        }

        package var service: any PushService { settings.service }
        /// Whether the app has credentials. Without them it is known, and nothing is sent by it.
        package var hasCredentials: Bool { settings.hasCredentials }
    }

    package struct Log: Sendable {
        package enum Format: String, CaseIterable, Sendable { case text, json }

        package var level = Logger.Level.info
        package var format = Format.text
    }

    package var stateDirectory = Settings.standardStateDirectory
    package var tor = Tor()
    package var onion = Onion()
    package var apps: [App] = []
    package var proxy = Proxy.none
    package var defaultIOS = ""
    package var defaultAndroid = ""
    package var peers = PeerDoor.Settings()
    package var circuits = Circuits.Settings()
    package var limits = Admission.Limits()
    /// Bytes of all connections' buffers together.
    var bufferBytes = 256 << 20
    package var storage = Storage()
    /// Zero: everything is stored before it is sent.
    package var writeBehind: Duration = .milliseconds(250)
    package var lifetime = Validator.longestLifetime
    package var identityMemory: Duration = .seconds(24 * 3600)
    package var deadTokenMemory: Duration = .seconds(30 * 86400)
    package var bisqRelay = BisqRelayDoor.Settings()
    package var http = HTTPServer.Settings()
    package var doors = Doors()
    package var watchman: [Watch] = []
    package var gorush = Gorush()
    package var statusIM = StatusIM()
    package var bitwarden = Bitwarden()
    package var managementListen = Endpoint.host("127.0.0.1", port: 9400)
    package var console = Console()
    package var log = Log()
    /// The values that were set, as text, by key: to tell two configurations apart. May hold what must not be logged.
    var texts: [String: String] = [:]

    /// Returns the keys whose values differ, in their order.
    func keys(changedFrom other: Settings) -> [String] {
        Set(texts.keys).union(other.texts.keys).filter { texts[$0] != other.texts[$0] }.sorted()
    }
}
