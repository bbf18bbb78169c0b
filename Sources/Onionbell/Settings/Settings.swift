import Doors
import Logging
import Reactor
import Relay
import Tor
import Wire

/// Everything an operator can set, checked. `Deploy/onionbell.yaml` explains each key.
struct Settings: Sendable {
    struct Tor: Sendable {
        enum Mode: String, CaseIterable, Sendable { case own, system }

        var mode = Mode.own
        var binary = "tor"
        /// Empty: the torrc that comes with the program.
        var torrc = ""
        var control = Endpoint.host("127.0.0.1", port: 9051)
        /// Empty: as tor itself says.
        var cookieFile = ""
        var passwordFile = ""
        /// `nil`: as tor itself says.
        var socks: Endpoint?
        /// How often tor is asked how it is.
        var heartbeat: Duration = .seconds(20)
    }

    struct Onion: Sendable {
        var peerPort: UInt16 = 9999
        var httpPorts: [UInt16] = [80, 8021]
        var network = BisqNetwork.mainnet
        /// Where tor hands the peers' streams over; port 0: any free one.
        var peerListen = Endpoint.host("127.0.0.1", port: 0)
        /// The same for HTTP.
        var httpListen = Endpoint.host("127.0.0.1", port: 0)
        var uploadTimeout: Duration = .seconds(180)
        /// Calls to the own address; without the doors that are called.
        var selfDial = SelfDialSettings()
        /// With an own tor: the form in which tor tells the circuit of each connection.
        var isGuarded = true
        /// 0: no limit.
        var streamsPerCircuit = 64
        var hasProofOfWork = true
        var work = OnionForm.Rate(perSecond: 250, burst: 2500)
        /// 0 a second: no limit.
        var introductions = OnionForm.Rate(perSecond: 0, burst: 200)
    }

    struct App: Sendable {
        var name = ""
        var credentials: Credentials
    }

    enum Credentials: Sendable {
        case apns(APNs)
        case fcm(FCM)
    }

    struct APNs: Sendable {
        var topic = ""
        var keyFile = ""
        var keyID = ""
        var teamID = ""
        var certificateFile = ""
        var certificatePasswordFile = ""
        var productionURL = "https://api.push.apple.com"
        var sandboxURL = "https://api.sandbox.push.apple.com"
        var caFile = ""
    }

    struct FCM: Sendable {
        var serviceAccountFile = ""
        var baseURL = "https://fcm.googleapis.com"
        /// Empty: the service account's own.
        var tokenURL = ""
        var caFile = ""
        /// A notification block for phones whose app can't show data-only messages (Bisq Remote before 1.3.4).
        var hasNotificationBlock = false
    }

    struct Log: Sendable {
        enum Format: String, CaseIterable, Sendable { case text, json }

        var level = Logger.Level.info
        var format = Format.text
    }

    var stateDirectory = "/var/lib/onionbell"
    var tor = Tor()
    var onion = Onion()
    var apps: [App] = []
    var proxy = Proxy.none
    var defaultIOS = ""
    var defaultAndroid = ""
    var peers = PeerDoor.Settings()
    var circuits = Circuits.Settings()
    var limits = Admission.Limits()
    var lifetime = Validator.longestLifetime
    var identityMemory: Duration = .seconds(24 * 3600)
    var deadTokenMemory: Duration = .seconds(30 * 86400)
    var bisqRelay = BisqRelayDoor.Settings()
    var http = HTTPServer.Settings()
    var doors = Doors()
    var status = Status()
    var bitwarden = Bitwarden()
    var managementListen = Endpoint.host("127.0.0.1", port: 9400)
    var log = Log()
}
