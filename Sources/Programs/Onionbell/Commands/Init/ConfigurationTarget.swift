import Crypto
import FeatureList
import Gateways
import Glibc
import Node
import Processes
import Reactor
import Tor

/// The place where a configuration is written, with its credentials beside it.
struct ConfigurationTarget {
    let path: String
    /// Whether files that are there already may be replaced.
    var replaces = false

    /// The directory for the files of credentials: only the owner looks in. systemd hands them to the node.
    var credentials: String { directory + "/" + SettingsReader.credentialsDirectory }

    private var directory: String {
        let path = absolute(path)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/"
    }

    /// Throws where nothing may be written, before anything is asked. The sample as it was installed may be
    /// replaced: nobody has put anything into it.
    func refuseToReplace() throws(InitError) {
        guard access(directory, F_OK) == 0 else {
            throw .notWritten(
                "there is no directory \(directory): create it, or use another name with --config")
        }
        guard !replaces, access(path, F_OK) == 0 else { return }
        let sample = SettingsText.sample
        guard sample == nil || (try? SettingsText.read(path)) != sample else { return }
        throw .notWritten(
            "\(path) exists already: replace it with --force, or use another name with --config")
    }

    /// Checks everything, then writes the credentials and the configuration, or nothing.
    ///
    /// - Returns: What was written.
    func write(_ choices: ConfigurationChoices) async throws(InitError) -> [String] {
        try check(choices)
        var sample: SampleConfiguration
        do { sample = try .installed() } catch { throw .notWritten("\(error)") }
        if let contact = choices.webPushContact { try addWebPush(contact, to: &sample) }
        for app in choices.needless { sample.turnOff(app) }
        // First with the files where they are: everything is checked before anything is written.
        let files = choices.credentialFiles.map { ($0.key, absolute($0.file)) }
        let settings = try await check(configured(&sample, choices.settings + files))
        let copies = try copies(of: choices)
        let names = choices.credentialFiles.map {
            ($0.key, ConfigurationChoices.credentialPath(CredentialCopy.name(of: $0.file)))
        }
        _ = try configured(&sample, names)
        var new = copies.filter(\.isNew).map { ("\(credentials)/\($0.name)", $0.content) }
        if let name = choices.httpsName { new += try request(for: name) }
        return try write(new, sample.text, for: settings)
    }

    /// Writes files into the folder of credentials, and the configuration.
    private func write(
        _ new: [(path: String, bytes: [UInt8])], _ text: String, for settings: Settings
    ) throws(InitError) -> [String] {
        let node = path == Settings.standardFile ? NodeAccount.installed(for: settings) : nil
        do throws(SystemError) {
            var files = FileExchange()
            if !new.isEmpty { try files.makeDirectory(credentials) }
            for (path, bytes) in new { try files.put(bytes, at: path) }
            if node == nil { try files.put(Array(text.utf8), at: path, group: nodeGroup) }
            try files.exchange()
            try node?.write(text, linkedFrom: path)
            files.keep()
        } catch {
            throw .notWritten("\(error)")
        }
        let words = node.map { "\(path) (\($0.settings), which the console can change)" } ?? path
        return new.map(\.path) + [words]
    }

    /// Returns the fault of choices and of the contents of files; nothing is written.
    func fault(of choices: ConfigurationChoices) async -> String? {
        do throws(InitError) {
            try check(choices)
            var sample: SampleConfiguration
            do { sample = try .installed() } catch { throw .notWritten("\(error)") }
            let files = choices.credentialFiles.map { ($0.key, absolute($0.file)) }
            let text = try configured(&sample, choices.settings + files)
            let settings: Settings
            do {
                settings = try Settings(yaml: text, file: path, directory: directory, features: .built)
            } catch {
                return error.faults.map(\.problem).joined(separator: "; ")
            }
            let faults = await GatewayAssembly.faults(in: settings)
            guard faults.isEmpty else { return faults.map(\.problem).joined(separator: "; ") }
            _ = try copies(of: choices)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func check(_ choices: ConfigurationChoices) throws(InitError) {
        if let name = choices.httpsName {
            guard CertificateRequest.isName(name) else {
                throw .unusable(
                    "--https-name \(SettingsFault.shown(name)) is no host's name, such as push.example.org")
            }
            let key = "\(credentials)/\(ConfigurationChoices.httpsKey)"
            guard access(key, F_OK) != 0 else {
                throw .notWritten(
                    "\(key) exists already, and is kept: leave --https-name out to use it, or put it into another folder to have another one made"
                )
            }
            let request = "\(credentials)/\(ConfigurationChoices.httpsRequest)"
            guard replaces || access(request, F_OK) != 0 else {
                throw .notWritten(
                    "\(request) exists already: put it into another folder, or replace it with --force")
            }
        }
        guard case .key(_, let keyID, let teamID) = choices.apple else { return }
        for (option, value) in [("--ios-key-id", keyID), ("--ios-team-id", teamID)]
        where !AppleName.isIdentifier(value) {
            throw .unusable(
                value.isEmpty
                    ? "\(option) is needed with --ios-key: Apple's 10 letters and digits"
                    : "\(option) \(SettingsFault.shown(value)) is not an id of Apple's, which has 10 capital letters and digits"
            )
        }
    }

    private func addWebPush(_ contact: String, to sample: inout SampleConfiguration) throws(InitError) {
        guard let app = sample.app(ofGateway: WebPushApp.gateway) else {
            throw .unusable("the sample configuration has no app of gateway \(WebPushApp.gateway)")
        }
        var settings = [("\(app).name", "browsers"), ("\(app).gateway", WebPushApp.gateway)]
        if !contact.isEmpty { settings.append(("\(app).contact", contact)) }
        _ = try configured(&sample, settings)
    }

    private func configured(
        _ sample: inout SampleConfiguration, _ settings: [(key: String, value: String)]
    ) throws(InitError) -> String {
        for (key, value) in settings {
            do { try sample.set(key, to: value) } catch { throw .unusable("\(error)") }
        }
        return sample.text
    }

    private func check(_ text: String) async throws(InitError) -> Settings {
        let settings: Settings
        do {
            settings = try Settings(yaml: text, file: path, directory: directory, features: .built)
        } catch {
            // Nothing was written that had these lines.
            throw .unusable("\(SettingsError(file: path, faults: error.faults.map(\.withoutLine)))")
        }
        let faults = await GatewayAssembly.faults(in: settings)
        guard faults.isEmpty else {
            throw .unusable("\(SettingsError(file: path, faults: faults.map(\.withoutLine)))")
        }
        return settings
    }

    /// Returns the credentials as they are to lie in their folder, each once.
    ///
    /// - Throws: Two of them have one name, or another one lies there under that name.
    private func copies(of choices: ConfigurationChoices) throws(InitError) -> [CredentialCopy] {
        var copies: [CredentialCopy] = []
        for (_, file) in choices.credentialFiles {
            let copy: CredentialCopy
            do throws(SystemError) { copy = try CredentialCopy(absolute(file), in: credentials) } catch {
                throw .unusable("\(error)")
            }
            if choices.httpsName != nil, copy.isOfRequest {
                throw .unusable("\(copy.source) has the name of a file that --https-name makes: rename it")
            }
            if let other = copies.first(where: { $0.name == copy.name }) {
                guard other.content == copy.content else {
                    throw .unusable(
                        "\(other.source) and \(copy.source) have the same name, and are to lie in one folder, \(credentials): rename one of them"
                    )
                }
                continue
            }
            guard replaces || !copy.replacesAnother else {
                throw .notWritten(
                    "\(credentials)/\(copy.name) exists already, and is another file than \(copy.source): replace it with --force, or rename one of them"
                )
            }
            copies.append(copy)
        }
        return copies
    }

    /// Makes a key for https, and what an authority needs to certify it; returns both files.
    private func request(for name: String) throws(InitError) -> [(path: String, bytes: [UInt8])] {
        let made: CertificateRequest
        do { made = try CertificateRequest(forServer: name) } catch { throw .notWritten("\(error)") }
        return [
            ("\(credentials)/\(ConfigurationChoices.httpsKey)", made.keyPEM.bytes),
            ("\(credentials)/\(ConfigurationChoices.httpsRequest)", made.requestPEM),
        ]
    }

    /// The group of the node's name, as the installation makes it, which is to read the configuration.
    private var nodeGroup: gid_t? { geteuid() == 0 ? getgrnam("onionbell")?.pointee.gr_gid : nil }
}

/// A file that is to lie in the folder of credentials.
private struct CredentialCopy {
    let name: String
    let source: String
    let content: [UInt8]
    /// Whether the file does not lie there yet.
    let isNew: Bool
    /// Whether another file of this name lies there.
    let replacesAnother: Bool

    init(_ source: String, in folder: String) throws(SystemError) {
        self.source = source
        name = CredentialCopy.name(of: source)
        content = try PrivateFile.read(source, limit: CredentialFiles.limit)
        let place = "\(folder)/\(name)"
        let present = try? PrivateFile.read(place, limit: CredentialFiles.limit)
        isNew = source != place && present != content
        replacesAnother = isNew && access(place, F_OK) == 0
    }

    static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }

    var isOfRequest: Bool {
        [ConfigurationChoices.httpsKey, ConfigurationChoices.httpsRequest].contains { $0 == name }
    }
}

extension SettingsFault {
    /// The fault of a text that nobody has seen, so without its line.
    fileprivate var withoutLine: SettingsFault {
        var fault = self
        fault.line = nil
        return fault
    }
}
