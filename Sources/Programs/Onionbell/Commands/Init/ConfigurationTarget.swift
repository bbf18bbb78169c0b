import Crypto
import Gateways
import Glibc
import Node
import Processes
import Reactor
import Tor

/// The place where a configuration is written, with its credentials beside it.
struct ConfigurationTarget {
    let path: String

    /// The directory for the files of credentials: only the owner looks in. systemd hands them to the node.
    var credentials: String { directory + "/" + SettingsReader.credentialsDirectory }

    private var directory: String {
        let path = absolute(path)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/"
    }

    /// Throws where nothing may be written, before anything is asked. The sample as it was installed may be
    /// replaced: nobody has put anything into it.
    func refuseToReplace(unless isForced: Bool) throws(InitError) {
        guard access(directory, F_OK) == 0 else {
            throw .notWritten(
                "there is no directory \(directory): create it, or use another name with --config")
        }
        guard !isForced, access(path, F_OK) == 0 else { return }
        let sample = try? SampleConfiguration.installedText()
        guard sample == nil || (try? SettingsText.read(path)) != sample else { return }
        throw .notWritten(
            "\(path) exists already: replace it with --force, or use another name with --config")
    }

    /// Checks everything, then writes the credentials and the configuration.
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
        var written: [String] = []
        var copies: [(String, String)] = []
        for (key, file) in files {
            let name = String(file.split(separator: "/").last ?? "")
            if file != "\(credentials)/\(name)" {
                try copy(file, to: name)
                written.append("\(credentials)/\(name)")
            }
            copies.append((key, ConfigurationChoices.credentialPath(name)))
        }
        if let name = choices.httpsName { written += try writeRequest(for: name) }
        _ = try configured(&sample, copies)
        let text = sample.differences
        if path == Settings.standardFile, let node = NodeAccount.installed(for: settings) {
            try wrapped { () throws(SystemError) in try node.write(text, linkedFrom: path) }
            return written + ["\(path) (\(node.settings), which the console can change)"]
        }
        try wrapped { () throws(SystemError) in try PrivateFile.write(text, to: path, replacing: true) }
        try letTheNodeRead(path)
        return written + [path]
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
                settings = try Settings(yaml: text, file: path, directory: directory)
            } catch {
                return error.faults.map(\.problem).joined(separator: "; ")
            }
            let faults = await GatewayAssembly.faults(in: settings)
            return faults.isEmpty ? nil : faults.map(\.problem).joined(separator: "; ")
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
                throw .notWritten("\(key) exists already: move it away to have another one made")
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
            settings = try Settings(yaml: text, file: path, directory: directory)
        } catch {
            throw .unusable("\(error)")
        }
        let faults = await GatewayAssembly.faults(in: settings)
        guard faults.isEmpty else {
            throw .unusable("\(SettingsError(file: path, faults: faults.map(\.withoutLine)))")
        }
        return settings
    }

    private func copy(_ file: String, to name: String) throws(InitError) {
        try wrapped { () throws(SystemError) in
            let bytes = try PrivateFile.read(file, limit: CredentialFiles.limit)
            if access(credentials, F_OK) != 0 { try PrivateFile.makeDirectory(credentials) }
            try PrivateFile.write(bytes, to: "\(credentials)/\(name)", replacing: true)
        }
    }

    /// Writes a key for https, and what an authority needs to certify it; returns both paths.
    private func writeRequest(for name: String) throws(InitError) -> [String] {
        let made: CertificateRequest
        do { made = try CertificateRequest(forServer: name) } catch { throw .notWritten("\(error)") }
        let key = "\(credentials)/\(ConfigurationChoices.httpsKey)"
        let request = "\(credentials)/\(ConfigurationChoices.httpsRequest)"
        try wrapped { () throws(SystemError) in
            if access(credentials, F_OK) != 0 { try PrivateFile.makeDirectory(credentials) }
            try PrivateFile.write(made.keyPEM.bytes, to: key, replacing: false)
            try PrivateFile.write(made.requestPEM, to: request, replacing: true)
        }
        return [key, request]
    }

    /// Lets a group of the node's name, as the installation makes it, read the configuration.
    private func letTheNodeRead(_ path: String) throws(InitError) {
        guard geteuid() == 0, let group = getgrnam("onionbell")?.pointee.gr_gid else { return }
        try wrapped { () throws(SystemError) in
            try PrivateFile.giveToRead(path, group: group)
        }
    }

    private func wrapped(_ body: () throws(SystemError) -> Void) throws(InitError) {
        do { try body() } catch { throw .notWritten("\(error)") }
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
