import Node
import Wire

/// An operator's choices for the node that is to be; one that is `nil` stays as in the sample.
struct ConfigurationChoices {
    enum Apple {
        case key(file: String, keyID: String, teamID: String)
        case certificate(file: String, passwordFile: String?)
    }

    var stateDirectory: String?
    var tor: Settings.Tor.Mode?
    var torControl: String?
    var network: BisqNetwork?
    var iosTopic: String?
    var apple: Apple?
    var androidAccount: String?
    /// Whether to set `notification_block`: for Android apps that cannot show data-only messages.
    var hasNotificationBlock = false
    /// Browsers are rung by Web Push, and push services get this contact; empty: nobody's.
    var webPushContact: String?
    /// The host of https endpoints: a key is made, and a request for the certificate of this host.
    var httpsName: String?
    /// Phones without credentials of ours are rung by Bisq's own relay.
    var ringsThroughBisq = false
    var console: ConsoleChoice?
    /// Any setting by its key; these come last.
    var others: [(key: String, value: String)] = []

    /// The files of ``httpsName``.
    static let httpsKey = "https-key.pem"
    static let httpsRequest = "https-request.pem"
    static let httpsCertificate = "https-certificate.pem"

    /// Returns the path by which the configuration names a file that lies with the other credentials.
    static func credentialPath(_ name: String) -> String { "\(SettingsReader.credentialsDirectory)/\(name)" }

    /// The control socket of Debian's tor.
    static let systemControl = "unix:/run/tor/control"

    /// The files of credentials, each with the setting that names it.
    var credentialFiles: [(key: String, file: String)] {
        var files: [(String, String)] = []
        switch apple {
        case .key(let file, _, _): files.append(("\(Self.ios).key_file", file))
        case .certificate(let file, let passwordFile):
            files.append(("\(Self.ios).certificate_file", file))
            if let passwordFile { files.append(("\(Self.ios).certificate_password_file", passwordFile)) }
        case nil: break
        }
        if let androidAccount { files.append(("\(Self.android).service_account_file", androidAccount)) }
        return files
    }

    private static let ios = "apps[0]"
    private static let android = "apps[1]"
    /// The apps of the sample that hand on to Bisq's relay.
    private static let relays = [
        ("apps[2]", name: "bisq1-relay", form: "bisq1"), ("apps[3]", name: "bisq2-relay", form: "bisq2"),
    ]

    /// The app for Bisq Remote, whose pairing token everybody sees.
    static let bisq1Relay = relays[0].name

    /// Apps of the sample that nobody needs.
    var needless: [String] {
        guard ringsThroughBisq else { return [] }
        return (apple == nil ? [Self.ios] : []) + (androidAccount == nil ? [Self.android] : [])
    }

    private var usualControl: String? {
        switch tor {
        case .instance: Settings.Tor.instanceControl
        case .system: Self.systemControl
        case .own, nil: nil
        }
    }

    /// The settings that they are, in the order in which they are to be made.
    var settings: [(key: String, value: String)] {
        var settings: [(String, String)] = []
        func add(_ key: String, _ value: String?) { if let value { settings.append((key, value)) } }
        add("state_directory", stateDirectory)
        add("tor.mode", tor?.rawValue)
        add("tor.control", torControl ?? usualControl)
        add("onion.network", network?.rawValue)
        add("\(Self.ios).topic", iosTopic)
        if case .key(_, let keyID, let teamID) = apple {
            add("\(Self.ios).key_id", keyID)
            add("\(Self.ios).team_id", teamID)
        }
        if hasNotificationBlock { add("\(Self.android).notification_block", "true") }
        if ringsThroughBisq {
            for (app, name, form) in Self.relays {
                add("\(app).name", name)
                add("\(app).gateway", "relay")
                add("\(app).form", form)
                add("\(app).targets", "any")
            }
            // The relays take over for the platforms that have no app of their own.
            if apple == nil { add("defaults.ios", "") }
            if androidAccount == nil { add("defaults.android", "") }
        }
        add("console.listen", console?.places)
        if httpsName != nil { add("doors.https.key_file", Self.credentialPath(Self.httpsKey)) }
        return settings + others
    }
}
