import ArgumentParser
import Gateways
import Glibc
import Node
import Programs
import Reactor
import Tor
import Wire

/// `onionbell init`: writes a configuration, from questions or options.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a configuration: asks for what it needs, or takes it as options.",
        discussion: """
            The file is the commented sample with what you say filled in. On a terminal it asks for what the options \
            don't give (--defaults: it doesn't). Keys and certificates are checked, and copied into credentials/ \
            beside the configuration, where only their owner can read them; nothing is written when anything is \
            wrong.

            Exit status: 0 written, 64 usage, 65 something given can't be used, 73 it can't be written or is there \
            already.
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "Replace a configuration that is there.")
    var force = false

    @Flag(help: "Ask nothing: what no option gives stays as in the sample.")
    var defaults = false

    @Option(help: ArgumentHelp("Where the node keeps its key and its outbox.", valueName: "directory"))
    var stateDirectory: String?

    @Option(
        help: ArgumentHelp(
            "own: the node starts a tor of its own; system: it uses a running one.", valueName: "own|system"))
    var tor: Settings.Tor.Mode?

    @Option(
        help: ArgumentHelp("The control port of the system's tor.", valueName: "address:port|unix:/path"))
    var torControl: String?

    @Option(help: "Bisq's network.")
    var network: BisqNetwork?

    @Option(help: ArgumentHelp("The bundle id of the iPhone app.", valueName: "bundle-id"))
    var iosTopic: String?

    @Option(help: ArgumentHelp("Apple's provider token key, AuthKey_….p8.", valueName: "file"))
    var iosKey: String?

    @Option(
        help: ArgumentHelp(
            "The id of that key; if not given, the one in its file's name.", valueName: "10-characters"))
    var iosKeyID: String?

    @Option(help: ArgumentHelp("The id of the team whose key it is.", valueName: "10-characters"))
    var iosTeamID: String?

    @Option(help: ArgumentHelp("Or Apple's push certificate with its key, .p12.", valueName: "file"))
    var iosCertificate: String?

    @Option(help: ArgumentHelp("A file with the certificate's password, if it has one.", valueName: "file"))
    var iosCertificatePassword: String?

    @Option(help: ArgumentHelp("The JSON file of Google's service account.", valueName: "file"))
    var androidAccount: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Any other setting, as in log.level=debug; may be given several times.", valueName: "key=value"))
    var others: [String] = []

    func validate() throws {
        if iosKey != nil, iosCertificate != nil {
            throw ValidationError("give --ios-key or --ios-certificate, not both")
        }
        for other in others where !other.contains("=") {
            throw ValidationError("--set takes KEY=VALUE, as in log.level=debug")
        }
    }

    func run() async throws {
        umask(0o077)
        let target = ConfigurationTarget(path: config.config)
        do {
            try target.refuseToReplace(unless: force)
            var choices = self.choices
            if !defaults, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
                try Interview().complete(&choices)
            }
            let written = try await target.write(choices)
            for path in written { printLine("wrote \(path)") }
            tellWhatIsNext(choices)
        } catch {
            throw fail(error, status: error.exitStatus)
        }
    }

    private var choices: ConfigurationChoices {
        var choices = ConfigurationChoices()
        choices.stateDirectory = stateDirectory.map(absolute)
        choices.tor = tor
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
        choices.others = others.map { other in
            let parts = other.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        return choices
    }

    private func tellWhatIsNext(_ choices: ConfigurationChoices) {
        let option = config.config == Settings.standardFile ? "" : " --config \(config.config)"
        if choices.apple == nil, choices.androidAccount == nil {
            printLine(
                """
                No credentials yet: every notification will be refused until Apple's or Google's are put into \
                \(ConfigurationTarget(path: config.config).credentials) and named in \(config.config).
                """)
        }
        printLine("Next: onionbell doctor\(option)")
        printLine(
            access("/run/systemd/system", F_OK) == 0
                ? "Then: systemctl enable --now onionbell" : "Then: onionbell run\(option)")
    }
}

extension Settings.Tor.Mode: ExpressibleByArgument {}

/// Why no configuration was written.
enum InitError: Error, CustomStringConvertible {
    /// What was given can't be used.
    case unusable(String)
    /// It can't be written, or may not be.
    case notWritten(String)

    var exitStatus: Int32 {
        switch self {
        case .unusable: 65
        case .notWritten: 73
        }
    }

    var description: String {
        switch self {
        case .unusable(let sentence), .notWritten(let sentence): sentence
        }
    }
}
