import Glibc
import Node
import Processes
import Reactor

/// The settings of a `bisq-relay`, as far as a node has one for them.
///
/// They are environment variables (`BISQ_RELAY_APNS_CERTIFICATE_FILE=push.p12`), properties of Spring
/// (`apns.certificateFile=push.p12`), or both in `BISQ_RELAY_OPTS` (`-Dapns.certificateFile=push.p12`). Source: its README,
/// docker-compose.yml, `ApnsProperties.java`, `FcmProperties.java`.
struct BisqRelaySettings {
    private var topic: String?
    private var certificate: String?
    private var password: String?
    private var account: String?
    private var hasNotificationBlock = false
    private var isGoogleOff = false
    /// The relay's settings to which none of a node's corresponds, each with a sentence.
    private var rest: [(name: String, sentence: String)] = []

    /// The files of settings in a directory, the later ones before the earlier.
    private static let files = ["application.properties", "bisq-relay.env", ".env"]
    /// The files in a directory that `bisq-relay` takes without a setting.
    private static let usual = (
        certificate: "apnsCertificate.production.p12", password: "apnsCertificatePassword.txt",
        account: "fcmServiceAccountKey.json"
    )
    private static let limit = 65_536

    /// Reads the settings of a `bisq-relay`.
    ///
    /// - Parameter path: Its directory, or a file of its settings.
    init(at path: String) throws(InitError) {
        let path = absolute(path)
        guard access(path, F_OK) == 0 else { throw .unusable("there is no \(path)") }
        var found = stat()
        guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFDIR else {
            try read(path)
            try check(path)
            return
        }
        for name in Self.files where access("\(path)/\(name)", F_OK) == 0 { try read("\(path)/\(name)") }
        func usual(_ name: String) -> String? {
            access("\(path)/\(name)", F_OK) == 0 ? "\(path)/\(name)" : nil
        }
        if certificate == nil, let file = usual(Self.usual.certificate) {
            (certificate, password) = (file, password ?? usual(Self.usual.password))
        }
        if account == nil { account = usual(Self.usual.account) }
        try check(path)
    }

    // MARK: Reading

    private mutating func read(_ file: String) throws(InitError) {
        let text: String
        do throws(SystemError) {
            text = String(decoding: try PrivateFile.read(file, limit: Self.limit), as: UTF8.self)
        } catch {
            throw .unusable("\(file) can't be read: \(error)")
        }
        let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "/"
        for line in text.split(whereSeparator: \.isNewline) {
            if let (name, value) = Self.assignment(line) { try take(name, value, in: directory) }
        }
    }

    /// Reads `KEY=value`, also behind `export` or a unit's `Environment=`; `nil`: a comment, or nothing.
    private static func assignment(_ line: Substring) -> (name: String, value: String)? {
        var line = trimmed(line)
        for lead in ["export ", "Environment="] where line.hasPrefix(lead) {
            line = unquoted(trimmed(line.dropFirst(lead.count)))
        }
        guard let first = line.first, first != "#", first != "!",
            let end = line.firstIndex(where: { $0 == "=" || $0 == ":" })
        else { return nil }
        let value = unquoted(trimmed(line[line.index(after: end)...]))
        return (String(trimmed(line[..<end])), String(value))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return text
    }

    private static func unquoted(_ text: Substring) -> Substring {
        guard let quote = text.first, quote == "\"" || quote == "'", text.count > 1, text.last == quote else {
            return text
        }
        return text.dropFirst().dropLast()
    }

    /// Returns the letters of a name, to which both ways to write it come.
    private static func plain(_ name: String) -> String {
        let lead = "BISQ_RELAY_"
        let own = name.hasPrefix(lead) ? name.dropFirst(lead.count) : name[...]
        return own.filter(\.isLetter).lowercased()
    }

    /// Takes one setting of the relay's.
    ///
    /// - Parameter isOption: Whether the setting stands among options, which have no options of their own.
    private mutating func take(
        _ name: String, _ value: String, in directory: String, isOption: Bool = false
    ) throws(InitError) {
        let isOn = value.lowercased() == "true"
        var file: String { value.hasPrefix("/") ? value : "\(directory)/\(value)" }
        switch Self.plain(name) {
        case _ where value.isEmpty: break
        case "opts", "javaopts", "javatooloptions":
            guard !isOption else { return note(name, "options stand in no options") }
            for word in value.split(separator: " ") where word.hasPrefix("-D") {
                if let (name, value) = Self.assignment(word.dropFirst(2)) {
                    try take(name, value, in: directory, isOption: true)
                }
            }
        case "apnsbundleid": topic = value
        case "apnscertificatefile": certificate = file
        case "apnscertificatepasswordfile": password = file
        case "fcmfirebaseconfigurationfile": account = file
        case "fcmenabled": isGoogleOff = !isOn
        case "fcmdataonly", "fcmsenddataonly": hasNotificationBlock = !isOn
        case "apnsusesandbox": note(name, "each request names its host")
        case "fcmfirebaseurl": note(name, "the service account names its project")
        case "serverport", "serveraddress":
            note(name, "Bisq's requests come by the onion address; behind nginx set onion.http_listen")
        case "managementserverport", "managementserveraddress":
            note(name, "management.listen, with /healthz and /metrics")
        case let plain
        where plain.hasPrefix("apns") || plain.hasPrefix("fcm") || name.hasPrefix("BISQ_RELAY_")
            || plain.hasPrefix("server") || plain.hasPrefix("management"):
            note(name, "a node has no such setting")
        case _: break
        }
    }

    private mutating func note(_ name: String, _ sentence: String) {
        let name = SettingsFault.shown(name)
        if !rest.contains(where: { $0.name == name }) { rest.append((name, sentence)) }
    }

    private mutating func check(_ path: String) throws(InitError) {
        if isGoogleOff { account = nil }
        for file in [certificate, password, account].compactMap(\.self) where access(file, F_OK) != 0 {
            throw .unusable(
                "\(path) names \(file), which is not there: a path inside a container is to be that of this machine"
            )
        }
        guard topic != nil || certificate != nil || account != nil else {
            throw .unusable(
                "\(path) has nothing of bisq-relay: no BISQ_RELAY_APNS_… or BISQ_RELAY_FCM_…, no \(Self.usual.certificate)"
            )
        }
    }

    // MARK: Handing over

    /// Adds these settings to the choices. An option of the command takes precedence.
    func add(to choices: inout ConfigurationChoices) {
        choices.iosTopic = choices.iosTopic ?? topic
        if choices.apple == nil, let certificate {
            choices.apple = .certificate(file: certificate, passwordFile: password)
        }
        choices.androidAccount = choices.androidAccount ?? account
        if hasNotificationBlock { choices.hasNotificationBlock = true }
    }

    /// The list of what was taken over and what was not, in lines. No value: one may be a secret.
    var report: String {
        var lines = ["From bisq-relay:"]
        func taken(_ isThere: Bool, _ what: String) { if isThere { lines.append("  taken over: \(what)") } }
        taken(topic != nil, "the bundle id of the iPhone app")
        taken(
            certificate != nil,
            password == nil ? "Apple's certificate" : "Apple's certificate and its password")
        taken(account != nil, "Google's service account")
        taken(hasNotificationBlock, "notifications that are shown without the app (notification_block)")
        if isGoogleOff { lines.append("  FCM is off there, and here: --android-account turns it on") }
        for (name, sentence) in rest { lines.append("  no counterpart: \(name) (\(sentence))") }
        return lines.joined(separator: "\n")
    }
}
