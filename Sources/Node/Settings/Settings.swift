import Doors
import Gateways
import Logging
import Reactor
import Relay
import Tor

/// Everything an operator can set, checked. `Deploy/onionbell.yaml` explains each key.
package struct Settings: Sendable {
    /// The path at which the package installs the settings file.
    package static let standardFile = "/etc/onionbell/onionbell.yaml"
    package static let standardStateDirectory = "/var/lib/onionbell"

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
    package var peers = PeerDoorSettings()
    package var circuits = CircuitsSettings()
    package var limits = Admission.Limits()
    var bufferBytes = 256 << 20
    package var writeBehind: Duration = .milliseconds(250)
    package var lifetime = Validator.longestLifetime
    package var identityMemory: Duration = .seconds(24 * 3600)
    package var deadTokenMemory: Duration = .seconds(30 * 86400)
    package var bisqRelay = BisqRelayDoorSettings()
    package var http = HTTPServerSettings()
    package var doors = Doors()
    package var watchman: [Watch] = []
    /// The features of the program, each as these settings want it.
    package var features: [any Feature] = []
    /// The features that the program was built with.
    package var built = Features([], leftOut: [])
    package var managementListen = Endpoint.host("127.0.0.1", port: 9400)
    /// How long the list of rings is kept on disk; zero: it is in memory only.
    package var keptRings: Duration = .zero
    package var log = Log()
    /// The values that were set, as text, by key: to tell two configurations apart. May hold what must not be logged.
    var texts: [String: String] = [:]
    /// The files of secrets that these settings name, with their keys; those of apps are the apps' own.
    var secretFiles: [(key: String, path: String)] = []
    /// The keys whose values a running node takes over.
    package var liveKeys: Set<String> = []

    /// Returns the keys whose values differ, in their order.
    package func keys(changedFrom other: Settings) -> [String] {
        Set(texts.keys).union(other.texts.keys).filter { texts[$0] != other.texts[$0] }.sorted()
    }
}
