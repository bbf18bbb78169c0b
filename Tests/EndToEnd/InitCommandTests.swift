import Crypto
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing

/// `onionbell init` as an operator runs it.
@Suite struct InitCommandTests {
    /// The sample's.
    private static let topic = "bisqremote.joachimneumann.com"
    private let directory: String
    private let credentials: LabCredentials
    private var configuration: String { directory + "/etc/onionbell.yaml" }

    init() throws {
        directory = shortPath("init")
        try FileManager.default.createDirectory(
            atPath: directory + "/etc", withIntermediateDirectories: true)
        credentials = try LabCredentials()
        for (name, bytes) in [
            ("AuthKey_ABC123DEFG.p8", try credentials.providerKeyPEM()),
            ("push.p12", try credentials.certificateFile(topic: Self.topic, password: "secret")),
            ("password", Array("secret\n".utf8)), ("wrong", Array("wrong\n".utf8)),
            ("account.json", try credentials.serviceAccountFile(tokenURL: "https://localhost/token")),
            ("junk.p8", Array("no key".utf8)),
        ] {
            try LabDirectory.write(bytes, to: "\(directory)/\(name)")
        }
    }

    private func initialize(_ options: String...) throws -> CommandResult {
        try run(
            [program, "init", "--defaults", "--config", configuration]
                + options.map { $0.replacing("DIR", with: directory) })
    }

    private func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/etc/\(name)")
        return (attributes[.posixPermissions] as? Int) ?? 0
    }

    @Test func whatItWritesIsTakenByCheckConfigAndPrivate() throws {
        let made = try initialize(
            "--ios-key", "DIR/AuthKey_ABC123DEFG.p8", "--ios-team-id", "DEF123GHIJ", "--android-account",
            "DIR/account.json", "--set", "log.level=debug", "--state-directory", "DIR/state")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("wrote \(configuration)"))
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        for line in [
            "key_file: credentials/AuthKey_ABC123DEFG.p8", "key_id: ABC123DEFG", "team_id: DEF123GHIJ",
            "service_account_file: credentials/account.json", "level: debug",
            "state_directory: \(directory)/state",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
        // What was not asked for is not there, but where it is said.
        #expect(text.contains("share/onionbell/onionbell.yaml") && !text.contains("heartbeat"))
        let checked = try run([program, "check-config", "--config", configuration])
        #expect(checked.status == 0)
        #expect(checked.output == "\(configuration): no errors\n")
        #expect(try mode("credentials") == 0o700)
        #expect(try mode("credentials/account.json") == 0o600)
        #expect(try mode("onionbell.yaml") & 0o007 == 0)
    }

    /// As the package's units and directories are.
    @Test(arguments: [
        ("own", nil), ("instance", "unix:/run/onionbell-tor/control"), ("system", "unix:/run/tor/control"),
    ])
    func eachModeOfTorComesWithItsControlSocket(mode: String, control: String?) throws {
        let result = try initialize("--tor", mode)
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        // The default is not written.
        #expect(text.contains("\n  mode: \(mode)\n") == (control != nil))
        #expect(control.map { text.contains("\n  control: \($0)\n") } ?? !text.contains("tor:"))
        #expect(try run([program, "check-config", "--config", configuration]).status == 0)
    }

    /// They would lie in one folder, and the second would replace the first.
    @Test func twoCredentialsOfOneNameAreRefused() throws {
        for (folder, file) in [("c1", "AuthKey_ABC123DEFG.p8"), ("c2", "account.json")] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(folder)", withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: "\(directory)/\(file)", toPath: "\(directory)/\(folder)/secret")
        }
        let options = [
            "--ios-key", "DIR/c1/secret", "--ios-key-id", "ABC123DEFG", "--ios-team-id", "DEF123GHIJ",
            "--android-account", "DIR/c2/secret", "--force",
        ]
        let made = try run(
            [program, "init", "--defaults", "--config", configuration]
                + options.map { $0.replacing("DIR", with: directory) })
        #expect(made.status == 65, "\(made.output)")
        #expect(made.errors.contains("\(directory)/c1/secret and \(directory)/c2/secret have the same name"))
        #expect(access(configuration, F_OK) != 0 && access(directory + "/etc/credentials", F_OK) != 0)
        // One that is named twice is one file, and a request of init's own has its name for itself.
        try FileManager.default.copyItem(
            atPath: directory + "/AuthKey_ABC123DEFG.p8", toPath: directory + "/https-key.pem")
        let request = try initialize(
            "--ios-key", "DIR/https-key.pem", "--ios-key-id", "ABC123DEFG", "--ios-team-id", "DEF123GHIJ",
            "--https-name", "push.example.org")
        #expect(request.status == 65 && request.errors.contains("rename it"), "\(request.errors)")
    }

    @Test func anotherCredentialIsReplacedOnlyWhenAskedFor() throws {
        let present = directory + "/etc/credentials/account.json"
        try FileManager.default.createDirectory(
            atPath: directory + "/etc/credentials", withIntermediateDirectories: true)
        try LabDirectory.write(Array("another".utf8), to: present)
        let refused = try initialize("--android-account", "DIR/account.json")
        #expect(refused.status == 73, "\(refused.output)")
        #expect(
            refused.errors.contains("\(present) exists already")
                && refused.errors.contains("\(directory)/account.json"), "\(refused.errors)")
        #expect(try LabDirectory.read(present) == Array("another".utf8))
        #expect(access(configuration, F_OK) != 0)
        #expect(try initialize("--force", "--android-account", "DIR/account.json").status == 0)
        #expect(try LabDirectory.read(present) == LabDirectory.read(directory + "/account.json"))
        // The same one is none that is replaced.
        try FileManager.default.removeItem(atPath: configuration)
        #expect(try initialize("--android-account", "DIR/account.json").status == 0)
    }

    @Test func faultsComeAsJSONToo() throws {
        try "tor:\n  mod: own\n".write(toFile: configuration, atomically: true, encoding: .utf8)
        let result = try run([program, "check-config", "--json", "--config", configuration])
        #expect(result.status == 78)
        let fault = try #require(try JSON(Array(result.output.utf8)).array?.first)
        #expect(fault["key"]?.string == "tor.mod")
        #expect(fault["line"]?.integer == 2)
        #expect(fault["problem"]?.string == "unknown key; did you mean mode?")
        #expect(result.errors == "")
    }

    @Test func aCertificateIsTakenWithItsPassword() throws {
        let wrong = try initialize(
            "--ios-certificate", "DIR/push.p12", "--ios-certificate-password", "DIR/wrong")
        #expect(wrong.status == 65)
        #expect(wrong.errors.contains("apps[0].certificate_file"))
        let right = try initialize(
            "--ios-certificate", "DIR/push.p12", "--ios-certificate-password", "DIR/password")
        #expect(right.status == 0, "\(right.errors)")
    }

    @Test func aCertificateForAnotherTopicIsNamedWithBoth() throws {
        let other = try initialize(
            "--force", "--ios-certificate", "DIR/push.p12", "--ios-certificate-password", "DIR/password",
            "--ios-topic", "org.example.other")
        #expect(other.status == 65)
        #expect(
            other.errors.contains(Self.topic) && other.errors.contains("org.example.other"), "\(other.errors)"
        )
        #expect(access(configuration, F_OK) != 0)
        let below = try initialize(
            "--force", "--ios-certificate", "DIR/push.p12", "--ios-certificate-password", "DIR/password",
            "--ios-topic", Self.topic + ".voip")
        #expect(below.status == 0, "\(below.errors)")
    }

    /// In the order in which they are run, each for the same configuration.
    @Test func whatIsPrintedWorksAsPrinted() throws {
        let made = try run([program, "init", "--bisq", "--config", configuration])
        #expect(made.status == 0, "\(made.errors)")
        let commands = made.output.split(separator: "\n").filter {
            $0.contains("onionbell ") && !$0.hasPrefix("wrote")
        }
        #expect(commands.count == 5, "\(commands)")
        for command in commands { #expect(command.contains(" --config \(configuration)"), "\(command)") }
        #expect(
            commands.dropFirst().map { $0.prefix(5) } == ["Next:", "A min", "Then:", "Or: o"], "\(commands)")
        #expect(commands[1].contains("onionbell run") && commands[2].contains("onionbell doctor"))
    }

    /// As programs of Windows save text.
    @Test func filesWithAMarkBeforeThemAreTaken() throws {
        for name in ["account.json", "AuthKey_ABC123DEFG.p8", "password"] {
            let bytes = try LabDirectory.read("\(directory)/\(name)")
            try LabDirectory.write([0xef, 0xbb, 0xbf] + bytes, to: "\(directory)/\(name)")
        }
        let made = try initialize(
            "--ios-key", "DIR/AuthKey_ABC123DEFG.p8", "--ios-team-id", "DEF123GHIJ", "--android-account",
            "DIR/account.json")
        #expect(made.status == 0, "\(made.errors)")
        let text = try LabDirectory.read(configuration)
        try LabDirectory.write([0xef, 0xbb, 0xbf] + text, to: configuration)
        let checked = try run([program, "check-config", "--config", configuration])
        #expect(checked.output == "\(configuration): no errors\n", "\(checked.errors)")
        let certificate = try initialize(
            "--force", "--ios-certificate", "DIR/push.p12", "--ios-certificate-password", "DIR/password")
        #expect(certificate.status == 0, "\(certificate.errors)")
    }

    /// What a start would only warn of, and Apple refuse.
    @Test func checkConfigNamesACertificateThatHasEndedAndAnIdThatIsNone() throws {
        let now = Int64(time(nil))
        let ended = try CertificateAuthority().client(topic: "t", validity: now - 9000...now - 10)
        try LabDirectory.write(
            try PKCS12.write(ended, password: "", kind: .modern), to: directory + "/etc/ended.p12")
        func check(_ app: String) throws -> CommandResult {
            try "state_directory: \(directory)/state\napps:\n  - {name: a, gateway: apns, topic: t, \(app)}\n"
                .write(
                    toFile: configuration, atomically: true, encoding: .utf8)
            return try run([program, "check-config", "--config", configuration])
        }
        let certificate = try check("certificate_file: ended.p12")
        #expect(certificate.status == 78, "\(certificate)")
        #expect(
            certificate.errors.contains(
                "apps[0].certificate_file: the certificate has expired on "))
        // Also where the file's name has the id.
        for file in ["key.p8", "AuthKey_ABC123DEFG.p8"] {
            try LabDirectory.write(try credentials.providerKeyPEM(), to: directory + "/etc/\(file)")
            let key = try check("key_file: \(file), key_id: abc123defg, team_id: DEF123GHIJ")
            #expect(key.output.contains("key_id or team_id has not Apple's form"), "\(key)")
        }
    }

    @Test func nothingIsWrittenWhenAnythingIsWrong() throws {
        for options in [
            ["--ios-key", "DIR/junk.p8", "--ios-key-id", "ABC123DEFG", "--ios-team-id", "DEF123GHIJ"],
            ["--ios-key", "DIR/AuthKey_ABC123DEFG.p8", "--ios-team-id", "short"],
            ["--ios-key", "DIR/AuthKey_ABC123DEFG.p8"],
            ["--android-account", "DIR/junk.p8"], ["--android-account", "DIR/missing"],
            ["--set", "tor.mod=own"], ["--set", "tor.mode=other"],
        ] {
            let result = try run(
                [program, "init", "--defaults", "--config", configuration]
                    + options.map { $0.replacing("DIR", with: directory) })
            #expect(result.status == 65, "\(options): \(result.errors)")
            // Of a file that was not written no line can be looked up.
            #expect(!result.errors.contains(/\bline \d/), "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/etc") == [])
        }
    }

    /// The key that costs the loop least, before anybody has a certificate for another one.
    @Test func aKeyForHTTPSIsOnP256AndTheRequestNamesTheHost() throws {
        let made = try initialize("--https-name", "push.example.org")
        #expect(made.status == 0 && made.output.contains("certbot certonly"), "\(made.errors)")
        #expect(try mode("credentials/https-key.pem") == 0o600)
        let files = "\(directory)/etc/credentials"
        let request = try run([
            "openssl", "req", "-verify", "-noout", "-text", "-in", "\(files)/https-request.pem",
        ]).output
        #expect(
            request.contains("NIST CURVE: P-256") && request.contains("DNS:push.example.org"), "\(request)")
        #expect(try run([program, "check-config", "--config", configuration]).status == 0)
        // An authority certifies it, and the endpoint can be opened.
        let signed = try run([
            "openssl", "x509", "-req", "-in", "\(files)/https-request.pem", "-signkey",
            "\(files)/https-key.pem", "-days", "1", "-out", "\(files)/https-certificate.pem",
        ])
        #expect(signed.status == 0, "\(signed.errors)")
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        #expect(text.contains("\n    key_file: credentials/https-key.pem\n"))
        try text.replacing(
            "certificate_file: \"\"\n    key_file: c",
            with: "certificate_file: credentials/https-certificate.pem\n    key_file: c"
        ).write(toFile: configuration, atomically: true, encoding: .utf8)
        #expect(try run([program, "check-config", "--config", configuration]).status == 0)
        let again = try initialize("--force", "--https-name", "push.example.org")
        #expect(again.status == 73 && again.errors.contains("put it into another folder"), "\(again.errors)")
        #expect(try initialize("--force", "--https-name", "a,IP:127.0.0.1").status == 65)
    }

    @Test func aConfigurationThatWasChangedIsKept() throws {
        // As installed, it may be replaced.
        let sample = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Deploy/onionbell.yaml").standardized.path
        try FileManager.default.copyItem(atPath: sample, toPath: configuration)
        #expect(try initialize("--set", "log.level=debug").status == 0)
        let refused = try initialize()
        #expect(refused.status == 73)
        #expect(refused.errors.contains("--force"))
        #expect(try String(contentsOfFile: configuration, encoding: .utf8).contains("level: debug"))
        #expect(try initialize("--force").status == 0)
        #expect(try !String(contentsOfFile: configuration, encoding: .utf8).contains("level: debug"))
    }

    /// Told before anything is asked or checked.
    @Test func aDirectoryThatIsNotThereIsNamed() throws {
        let made = try run([
            program, "init", "--defaults", "--config", directory + "/none/onionbell.yaml", "--ios-key",
            "junk",
        ])
        #expect(made.status == 73)
        #expect(made.errors.contains("there is no directory \(directory)/none: create it"), "\(made.errors)")
    }

    @Test func bisqsRelayNeedsNoAnswerAndNoAccount() throws {
        let made = try run([program, "init", "--bisq", "--config", configuration])
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("targets: phone_book"))
        #expect(made.output.contains("onionbell point"))
        #expect(!made.output.contains("No credentials yet"))
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        #expect(text.contains("\n  - name: bisq1-relay\n    gateway: relay\n"))
        #expect(!text.contains("bisq-remote"))
        #expect(text.contains("\n  listen: [127.0.0.1:9480]\n"))
        #expect(try run([program, "check-config", "--config", configuration]).status == 0)
        // With an app of one's own beside it.
        let both = try run([
            program, "init", "--bisq", "--force", "--config", configuration, "--android-account",
            directory + "/account.json",
        ])
        #expect(both.status == 0, "\(both.errors)")
        let other = try String(contentsOfFile: configuration, encoding: .utf8)
        #expect(other.contains("\n  - name: bisq-remote-android\n    gateway: fcm\n"))
        #expect(other.contains("\n  android: bisq-remote-android\n"))
        #expect(try run([program, "check-config", "--config", configuration]).status == 0)
    }
}
