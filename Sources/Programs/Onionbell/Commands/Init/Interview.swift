import FeatureList
import Gateways
import Glibc
import Node
import Processes
import Wire

/// Asks for what no option gave. Each answer is checked when it is given, files with what is in them; `<` goes back to
/// the question before, whose answer is kept. An empty answer is the one in brackets.
struct Interview {
    enum Step: CaseIterable {
        case bisq, tor, network, browser, onion, apple, password, keyID, teamID, topic, google, webPush

        /// Whether the program has what the question is about.
        var isBuilt: Bool {
            switch self {
            case .browser, .onion: Features.built.has("owner")
            case .bisq, .tor, .network, .apple, .password, .keyID, .teamID, .topic, .google, .webPush: true
            }
        }
    }

    /// The answers, by step; what options gave is not asked for.
    private(set) var answers: [Step: String] = [:]
    private let given: ConfigurationChoices
    /// The steps that may be asked for.
    private let steps: [Step]
    /// The next answer; `nil`: there are no more.
    let read: () -> String?
    let tell: (String) -> Void
    /// Returns the fault of these choices as far as they go, as one sentence.
    let fault: (ConfigurationChoices) async -> String?

    init(
        _ given: ConfigurationChoices, steps: [Step] = Step.allCases, read: @escaping () -> String?,
        tell: @escaping (String) -> Void,
        fault: @escaping (ConfigurationChoices) async -> String?
    ) {
        self.given = given
        self.steps = steps
        self.read = read
        self.tell = tell
        self.fault = fault
    }

    /// Makes an interview on the terminal.
    static func onTerminal(
        _ given: ConfigurationChoices, steps: [Step] = Step.allCases, for target: ConfigurationTarget
    ) -> Interview {
        Interview(
            given, steps: steps, read: { readLine(strippingNewline: true) }, tell: { printText($0) },
            fault: { await target.fault(of: $0) })
    }

    /// Asks the questions, and returns the choices with what was answered.
    ///
    /// - Throws: ``InitError/notWritten(_:)`` when there are no more answers.
    mutating func run() async throws(InitError) -> ConfigurationChoices {
        tell("An empty answer means the value in brackets; < goes back.\n")
        var asked: [Step] = []
        while let step = steps.first(where: { !asked.contains($0) && isNeeded($0) }) {
            let standard = answers[step] ?? standard(of: step)
            tell("\(question(step)) [\(standard)]: ")
            guard let line = read() else { throw .notWritten("no more answers: nothing was written") }
            let words = String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            if words == "<" {
                _ = asked.popLast()
                continue
            }
            let before = answers[step]
            answers[step] = normal(words.isEmpty ? standard : words, of: step)
            if let fault = await wrong(step) {
                answers[step] = before
                tell("  not usable: \(fault)\n")
            } else {
                asked.append(step)
            }
        }
        return choices
    }

    /// Whether the answers so far make it a question.
    private func isNeeded(_ step: Step) -> Bool {
        let isBisq = answers[.bisq] == "yes" || given.ringsThroughBisq
        let file = answers[.apple] ?? ""
        return switch step {
        case .bisq: given.apple == nil && given.androidAccount == nil
        case .tor: given.tor == nil
        case .network: given.network == nil
        case .browser: isBisq && given.console == nil
        case .onion: isBisq && given.console == nil && answers[.browser] == "no"
        case .apple: !isBisq && given.apple == nil
        case .password: !isBisq && !file.isEmpty && !Self.isKey(file)
        case .keyID, .teamID: !isBisq && Self.isKey(file)
        case .topic: !isBisq && !file.isEmpty && given.iosTopic == nil
        case .google: !isBisq && given.androidAccount == nil
        case .webPush: !isBisq && given.webPushContact == nil
        }
    }

    private func question(_ step: Step) -> String {
        switch step {
        case .bisq: "Ring the published Bisq apps through Bisq's relay (no account needed): yes or no?"
        case .tor:
            "Tor: own (the node starts a managed Tor), instance (onionbell-tor.service runs it), or system (a running tor)?"
        case .network: "Bisq's network (\(BisqNetwork.allCases.map(\.rawValue).joined(separator: ", ")))"
        case .apple:
            "File with Apple's key (.p8) or push certificate (.p12), from developer.apple.com, Keys or Certificates; empty: none yet"
        case .browser: "Is there a browser on this machine, to see and set up the node in: yes or no?"
        case .onion:
            "An onion address for it, to open in Tor Browser on another machine (it has a login): yes or no?"
        case .password: "File with the certificate's password; empty: it has none"
        case .keyID: "Key id (10 characters: developer.apple.com, Keys, the key's page)"
        case .teamID: "Team id (10 characters: developer.apple.com, Membership details)"
        case .topic: "Bundle id of the iPhone app (developer.apple.com, Identifiers)"
        case .google:
            "File with Google's service account (.json), from the Firebase console, Project settings, Service accounts; empty: none yet"
        case .webPush:
            "Browsers (Web Push, no account): no, anonymous, or your address for push services (mailto:...)"
        }
    }

    private func standard(of step: Step) -> String {
        switch step {
        case .bisq: "yes"
        case .tor: Settings.Tor.Mode.own.rawValue
        case .network: BisqNetwork.mainnet.rawValue
        case .keyID: AppleName.keyID(inFileName: answers[.apple] ?? "") ?? ""
        case .topic: (try? SampleConfiguration.installed())?.value(of: "apps[0].topic") ?? ""
        case .browser: "yes"
        case .onion, .webPush: "no"
        case .apple, .password, .teamID, .google: ""
        }
    }

    /// Returns an answer as it is meant, such as `SYSTEM` or `~/key.p8`.
    private func normal(_ answer: String, of step: Step) -> String {
        switch step {
        case .bisq, .tor, .network, .browser, .onion: answer.lowercased()
        case .keyID, .teamID: answer.uppercased()
        case .apple, .password, .google: Self.expanded(answer)
        case .topic, .webPush: answer
        }
    }

    /// Returns a path with `~` expanded, as a shell does it. Under sudo, where `HOME` is root's, it may mean
    /// that of the user who typed it.
    static func expanded(_ path: String, homes: [String] = homes) -> String {
        guard path == "~" || path.hasPrefix("~/") else { return path }
        let places = homes.map { $0 + path.dropFirst() }
        return places.first { access($0, F_OK) == 0 } ?? places.last ?? path
    }

    private static var homes: [String] {
        let user = getenv("SUDO_UID").flatMap { uid_t(String(cString: $0)) }.flatMap { getpwuid($0) }
        return [getenv("HOME"), user?.pointee.pw_dir].compactMap { $0.map { String(cString: $0) } }
    }

    private static func isKey(_ file: String) -> Bool { file.lowercased().hasSuffix(".p8") }

    /// Returns the fault of an answer; `nil`: none.
    private func wrong(_ step: Step) async -> String? {
        let answer = answers[step] ?? ""
        switch step {
        case .bisq, .browser, .onion: return ["yes", "no"].contains(answer) ? nil : "yes or no"
        case .tor: return Settings.Tor.Mode(rawValue: answer) == nil ? "own, instance or system" : nil
        case .network: return BisqNetwork(rawValue: answer) == nil ? "one of these names" : nil
        case .keyID, .teamID:
            guard AppleName.isIdentifier(answer) else {
                return answer.isEmpty
                    ? "it is needed with a key: 10 letters and digits; < goes back"
                    : "10 letters and digits"
            }
            return nil
        case .topic: return answer.isEmpty ? "it is needed with a key or certificate" : await fault(choices)
        case .webPush:
            return ["no", "anonymous"].contains(answer) || WebPushApp.isContact(answer)
                ? nil : "no, anonymous, mailto:NAME@HOST or https://HOST"
        case .apple:
            guard !answer.isEmpty else { return nil }
            // A certificate can be opened with its password only, which comes next.
            if let fault = Self.unreadable(answer) { return fault }
            return Self.isKey(answer) ? await fault(choices) : nil
        case .google, .password:
            if !answer.isEmpty, let fault = Self.unreadable(answer) { return fault }
            return answer.isEmpty && step == .google ? nil : await fault(choices)
        }
    }

    private static func unreadable(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            return "\(path): \(String(cString: strerror(errno)))"
        }
        return status.st_mode & S_IFMT == S_IFREG ? nil : "\(path) is not a file"
    }

    /// The choices with what was given and answered.
    private var choices: ConfigurationChoices {
        var choices = given
        choices.ringsThroughBisq = given.ringsThroughBisq || answers[.bisq] == "yes"
        if let tor = answers[.tor] { choices.tor = Settings.Tor.Mode(rawValue: tor) }
        if let network = answers[.network] { choices.network = BisqNetwork(rawValue: network) }
        if let browser = answers[.browser] {
            choices.console = browser == "yes" ? .local : answers[.onion] == "yes" ? .onion : .off
        }
        guard answers[.bisq] != "yes" else { return choices }
        if let file = answers[.apple], !file.isEmpty {
            let password = answers[.password] ?? ""
            choices.apple =
                Self.isKey(file)
                ? .key(
                    file: file, keyID: answers[.keyID] ?? Self.anyID, teamID: answers[.teamID] ?? Self.anyID)
                : .certificate(file: file, passwordFile: password.isEmpty ? nil : password)
        }
        if let topic = answers[.topic] { choices.iosTopic = topic }
        if let file = answers[.google], !file.isEmpty { choices.androidAccount = file }
        if let contact = answers[.webPush], contact != "no" {
            choices.webPushContact = contact == "anonymous" ? "" : contact
        }
        return choices
    }

    /// The key ID or team ID while it has not been asked for.
    private static let anyID = "AAAAAAAAAA"
}
