import Doors
import Logging
import Reactor
import Relay
import Tor
import Wire

/// Everything an operator can set, checked. `Deploy/onionbell.yaml` explains each key.
package struct Settings: Sendable {
    /// Where the package installs it.
    package static let standardFile = "/etc/onionbell/onionbell.yaml"

    package struct Tor: Sendable {
        package enum Mode: String, CaseIterable, Sendable { case own, system }

        package var mode = Mode.own
        package var binary = "tor"
        /// Empty: the torrc that comes with the program.
        package var torrc = ""
        package var control = Endpoint.host("127.0.0.1", port: 9051)
        /// Empty: as tor itself says.
        package var cookieFile = ""
        package var passwordFile = ""
        /// `nil`: as tor itself says.
        package var socks: Endpoint?
        /// How often tor is asked how it is.
        package var heartbeat: Duration = .seconds(20)
    }

    package struct Onion: Sendable {
        package var peerPort: UInt16 = 9999
        package var httpPorts: [UInt16] = [80, 8021]
        package var network = BisqNetwork.mainnet
        /// Where tor hands the peers' streams over; port 0: any free one.
        package var peerListen = Endpoint.host("127.0.0.1", port: 0)
        /// The same for HTTP.
        package var httpListen = Endpoint.host("127.0.0.1", port: 0)
        package var uploadTimeout: Duration = .seconds(180)
        /// Calls to the own address; without the doors that are called.
        package var selfDial = SelfDialSettings()
        /// With an own tor: the form in which tor tells the circuit of each connection.
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
        package var credentials: Credentials
    }

    package enum Credentials: Sendable {
        case apns(APNs)
        case fcm(FCM)
    }

    package struct APNs: Sendable {
        package var topic = ""
        package var keyFile = ""
        package var keyID = ""
        package var teamID = ""
        package var certificateFile = ""
        package var certificatePasswordFile = ""
        package var productionURL = "https://api.push.apple.com"
        package var sandboxURL = "https://api.sandbox.push.apple.com"
        package var caFile = ""
    }

    package struct FCM: Sendable {
        package var serviceAccountFile = ""
        package var baseURL = "https://fcm.googleapis.com"
        /// Empty: the service account's own.
        package var tokenURL = ""
        package var caFile = ""
        /// A notification block for phones whose app can't show data-only messages (Bisq Remote before 1.3.4).
        package var hasNotificationBlock = false
    }

    package struct Log: Sendable {
        package enum Format: String, CaseIterable, Sendable { case text, json }

        package var level = Logger.Level.info
        package var format = Format.text
    }

    package var stateDirectory = "/var/lib/onionbell"
    package var tor = Tor()
    package var onion = Onion()
    package var apps: [App] = []
    package var proxy = Proxy.none
    package var defaultIOS = ""
    package var defaultAndroid = ""
    package var peers = PeerDoor.Settings()
    package var circuits = Circuits.Settings()
    package var limits = Admission.Limits()
    package var lifetime = Validator.longestLifetime
    package var identityMemory: Duration = .seconds(24 * 3600)
    package var deadTokenMemory: Duration = .seconds(30 * 86400)
    package var bisqRelay = BisqRelayDoor.Settings()
    package var http = HTTPServer.Settings()
    package var doors = Doors()
    package var status = Status()
    package var bitwarden = Bitwarden()
    package var managementListen = Endpoint.host("127.0.0.1", port: 9400)
    package var log = Log()
}
