import ArgumentParser
import FeatureList
import Gateways
import Glibc
import Node
import Processes
import Reactor
import Terminal
import Tor
import Wire

/// `onionbell init`: writes a configuration, from questions or options.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a configuration from options or answers.",
        discussion: """
            The file has what differs from the defaults; the sample has all settings, with comments. On a terminal \
            the command asks for values that no option gives, and checks each answer at once; < goes back. \
            --defaults turns the questions off, and --bisq all but the one for a browser: the node's console is for one \
            on this machine, or at an onion address for Tor Browser. With --bisq the node rings the phone apps that Bisq publishes \
            through Bisq's own relay, over Tor, and needs no account. It checks keys and certificates and copies them into \
            credentials/ beside the configuration, where only their owner can read them. If anything is wrong, or two of \
            them have the same name, it writes nothing. With a console, root writes the settings for the node's user, who is to change them: into the \
            state directory, with a link to them at /etc/onionbell/onionbell.yaml.

            --from bisq-relay takes over what a running bisq-relay has: its directory, or the file of its environment \
            (.env) or properties. It asks no questions, and says what has no counterpart. Other options go before.

            Exit status: 0 written, 64 usage, 65 a value or file cannot be used, 73 the configuration cannot be \
            written, or exists already and --force is not given.

            Example: onionbell init --bisq
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "Replace an existing configuration, and credentials of the same names.")
    var force = false

    @Flag(help: "Ask no questions; use the sample's values for everything else.")
    var defaults = false

    @Flag(help: "Ring the published Bisq apps through Bisq's relay, and ask for a browser only.")
    var bisq = false

    @Option(
        help: ArgumentHelp(
            "The owner's pages: local for a browser on this machine (with --bisq, where nobody can be asked), onion for Tor Browser elsewhere.",
            valueName: "local|onion|off"))
    var console: ConsoleChoice?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Take over the settings and credentials of a bisq-relay.", valueName: "program place"),
        completion: .file())
    var from: [String] = []

    @Option(help: ArgumentHelp("The directory for the node's key and outbox.", valueName: "directory"))
    var stateDirectory: String?

    @Option(
        help: ArgumentHelp(
            "own: the node starts a managed Tor; instance: onionbell-tor.service runs one for it, which outlives each restart (without this option, where systemd runs the installed units); system: it uses a running tor.",
            valueName: "own|instance|system"))
    var tor: Settings.Tor.Mode?

    @Option(
        help: ArgumentHelp("The control port of the system's tor.", valueName: "address:port|unix:/path"))
    var torControl: String?

    @Option(help: "Bisq's network.")
    var network: BisqNetwork?

    @Option(help: ArgumentHelp("The bundle id of the iPhone app.", valueName: "bundle-id"))
    var iosTopic: String?

    @Option(
        help: ArgumentHelp("Apple's provider token key, AuthKey_….p8.", valueName: "file"),
        completion: .file())
    var iosKey: String?

    @Option(
        help: ArgumentHelp(
            "The id of that key; by default from the file's name.", valueName: "10-characters"))
    var iosKeyID: String?

    @Option(help: ArgumentHelp("The id of the key's team.", valueName: "10-characters"))
    var iosTeamID: String?

    @Option(
        help: ArgumentHelp("Instead: Apple's push certificate with its key, .p12.", valueName: "file"),
        completion: .file())
    var iosCertificate: String?

    @Option(
        help: ArgumentHelp("A file with the certificate's password, if it has one.", valueName: "file"),
        completion: .file())
    var iosCertificatePassword: String?

    @Option(
        help: ArgumentHelp("The JSON file of Google's service account.", valueName: "file"),
        completion: .file())
    var androidAccount: String?

    @Option(
        help: ArgumentHelp(
            "Ring browsers by Web Push, without an account: how push services can reach you.",
            valueName: "mailto:address|https://page|anonymous"))
    var webPush: String?

    @Option(
        help: ArgumentHelp(
            "For https endpoints: make a key (P-256), and a request for the certificate of this host.",
            valueName: "host"))
    var httpsName: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Any other setting, such as log.level=debug. Can be repeated.", valueName: "key=value"))
    var others: [String] = []

    func validate() throws {
        if iosKey != nil, iosCertificate != nil {
            throw ValidationError("use --ios-key or --ios-certificate, not both")
        }
        guard from.isEmpty || from.count == 2 && from[0] == "bisq-relay" else {
            throw ValidationError("--from needs a program and its place: --from bisq-relay /srv/bisq-relay")
        }
        for other in others where !other.contains("=") {
            throw ValidationError("--set needs KEY=VALUE, such as log.level=debug")
        }
    }

    func run() async throws {
        umask(0o077)
        let target = ConfigurationTarget(path: config.config, replaces: force)
        do {
            try target.refuseToReplace()
            var choices = self.choices
            let relay = from.isEmpty ? nil : try BisqRelaySettings(at: from[1])
            relay?.add(to: &choices)
            if !defaults, relay == nil, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
                var interview = Interview.onTerminal(
                    choices, steps: (bisq ? [.browser, .onion] : Interview.Step.allCases).filter(\.isBuilt),
                    for: target)
                choices = try await interview.run()
            } else if bisq, choices.console == nil, Features.built.has("owner") {
                choices.console = .local
            }
            let written = try await target.write(choices)
            for path in written { printLine("wrote \(path)") }
            let startsTor = await TorUnit.follow(choices.tor, of: config.config)
            if let relay {
                printLine(relay.report)
                printLine(
                    """
                    Its onion address stays with its key:
                      onionbell key import <HiddenServiceDir>/hs_ed25519_secret_key\(config.words)
                    """)
            }
            tellWhatIsNext(choices, startsTor: startsTor)
        } catch {
            throw fail(error, status: error.exitStatus)
        }
    }

    private var choices: ConfigurationChoices {
        var choices = ConfigurationChoices()
        choices.stateDirectory = stateDirectory.map(absolute)
        choices.tor = tor ?? (TorUnit.isUsual(for: self) ? .instance : nil)
        choices.torControl = torControl
        choices.network = network
        choices.iosTopic = iosTopic
        if let iosKey {
            choices.apple = .key(
                file: iosKey, keyID: iosKeyID ?? AppleName.keyID(inFileName: iosKey) ?? "",
                teamID: iosTeamID ?? "")
        } else if let iosCertificate {
            choices.apple = .certificate(file: iosCertificate, passwordFile: iosCertificatePassword)
        }
        choices.androidAccount = androidAccount
        choices.webPushContact = webPush.map { $0 == "anonymous" ? "" : $0 }
        choices.httpsName = httpsName
        choices.ringsThroughBisq = bisq
        choices.console = console
        choices.others = others.map { other in
            let parts = other.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        return choices
    }

    private func tellWhatIsNext(_ choices: ConfigurationChoices, startsTor: Bool) {
        let option = config.words
        // Of the package: the unit has the standard configuration, and a user of its own.
        let isUnits = config.config == Settings.standardFile && NodeUnit.isSystemdRunning
        let asRoot = isUnits && geteuid() != 0 ? "sudo " : ""
        let asNode = isUnits && getpwnam("onionbell") != nil ? "sudo -u onionbell " : ""
        if choices.ringsThroughBisq {
            printLine(
                """
                Bisq's relay rings the published Bisq apps for this node. It is called through Tor and needs no account.
                """)
        }
        if choices.ringsThroughBisq, Features.built.has("owner") {
            printLine(
                """
                After you have paired your phone, let the node ring no others, so that strangers cannot use up what
                Bisq's relay grants this node:
                  \(asNode)onionbell phones add me --pairing-token -\(option)
                  then set targets: phone_book at \(ConfigurationChoices.bisq1Relay) in \(config.config)
                """)
        }
        if !choices.ringsThroughBisq, choices.apple == nil, choices.androidAccount == nil,
            choices.webPushContact == nil
        {
            printLine(
                """
                No credentials yet: every notification will be refused until Apple's or Google's are put into \
                \(ConfigurationTarget(path: config.config).credentials) and named in \(config.config).
                To ring the phone apps that Bisq publishes you need none: onionbell init --bisq --force\(option)
                """)
        }
        if choices.webPushContact != nil {
            printLine(
                "For the phone's page, after the first start: \(asNode)onionbell key show --vapid\(option)")
        }
        if choices.httpsName != nil {
            let place = ConfigurationTarget(path: config.config).credentials
            let file = "\(place)/\(ConfigurationChoices.httpsCertificate)"
            printLine(
                """
                For https, have \(place)/\(ConfigurationChoices.httpsRequest) certified, for example:
                  certbot certonly --standalone --csr \(place)/\(ConfigurationChoices.httpsRequest) --fullchain-path \(file)
                then set doors.https.certificate_file: \(ConfigurationChoices.credentialPath(ConfigurationChoices.httpsCertificate))
                """)
        }
        if choices.tor == .system {
            printLine(
                """
                First prepare Debian's tor, as RunningForReal.md says under "Which tor":
                  adduser onionbell debian-tor
                  then the directory /run/onionbell, by which tor reaches the node
                """)
        }
        let units = choices.tor == .instance && !startsTor ? "onionbell-tor onionbell" : "onionbell"
        printLine(
            isUnits ? "Next: \(asRoot)systemctl enable --now \(units)" : "Next: onionbell run\(option)")
        printLine("A minute later: \(asRoot)onionbell doctor\(option)")
        if choices.ringsThroughBisq, Features.built.has("owner") {
            printLine("Then: \(asNode)onionbell point\(option)    what to write into Bisq's configuration")
        }
        if let console = choices.console, console != .off {
            let browser = console == .onion ? "Tor Browser" : "this machine's browser"
            printLine(
                "Or: \(asNode)onionbell console link\(option)    a link for \(browser), for all of this")
        }
    }
}

extension Settings.Tor.Mode: ExpressibleByArgument {}

/// Why no configuration was written.
enum InitError: Error, CustomStringConvertible {
    /// The values can't be used.
    case unusable(String)
    /// The configuration can't be written, or may not be.
    case notWritten(String)

    var exitStatus: Int32 {
        switch self {
        case .unusable: 65
        case .notWritten: 73
        }
    }

    var description: String {
        switch self {
        case .unusable(let sentence): "nothing was written. \(sentence)"
        case .notWritten(let sentence): sentence
        }
    }
}
