import Foundation
import Lab
import Testing

/// `onionbell init --from bisq-relay`, as its operator runs it.
@Suite struct InitFromBisqRelayTests {
    private static let topic = "bisq.mobile.client.BisqConnect"
    private let directory: String
    private var configuration: String { directory + "/etc/onionbell.yaml" }

    init() throws {
        directory = shortPath("from")
        for name in ["etc", "relay"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
        }
        let credentials = try LabCredentials()
        try write(try credentials.certificateFile(topic: Self.topic, password: "pass phrase"), to: "push.p12")
        try write(Array("pass phrase\n".utf8), to: "push.pass")
        try write(try credentials.serviceAccountFile(tokenURL: "https://localhost/token"), to: "account.json")
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try LabDirectory.write(bytes, to: "\(directory)/relay/\(name)")
    }

    private func initialize(from place: String = "DIR/relay", _ more: String...) throws -> CommandResult {
        try run(
            [program, "init", "--config", configuration, "--force", "--from", "bisq-relay"]
                + ([place] + more).map { $0.replacing("DIR", with: directory) })
    }

    private func written() throws -> String {
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        #expect(try run([program, "check-config", "--config", configuration]).status == 0)
        return text
    }

    /// As `docker compose` reads it.
    private static let environment = """
        # bisq-relay
        BISQ_RELAY_APNS_BUNDLE_ID=\(topic)
        BISQ_RELAY_APNS_CERTIFICATE_FILE="push.p12"
        export BISQ_RELAY_APNS_CERTIFICATE_PASSWORD_FILE='push.pass'
        BISQ_RELAY_APNS_USE_SANDBOX=false

        BISQ_RELAY_FCM_ENABLED=true
        BISQ_RELAY_FCM_FIREBASE_CONFIGURATION_FILE = account.json
        BISQ_RELAY_FCM_DATA_ONLY=false
        BISQ_RELAY_FCM_SECRET_OF_TOMORROW=hunter2
        PATH=/usr/bin
        """

    private func expectAll(of result: CommandResult) throws {
        #expect(result.status == 0, "\(result.errors)")
        let text = try written()
        for line in [
            "topic: \(Self.topic)", "certificate_file: credentials/push.p12",
            "certificate_password_file: credentials/push.pass",
            "service_account_file: credentials/account.json", "notification_block: true",
        ] { #expect(text.contains(line + "\n"), "\(line) in \(text)") }
    }

    @Test(arguments: ["DIR/relay", "DIR/relay/.env"]) func itsEnvironmentIsTakenOver(place: String) throws {
        try write(Array(Self.environment.utf8), to: ".env")
        let result = try initialize(from: place)
        try expectAll(of: result)
        #expect(result.output.contains("taken over: Apple's certificate and its password\n"))
        #expect(result.output.contains("no counterpart: BISQ_RELAY_APNS_USE_SANDBOX (each request names"))
        #expect(result.output.contains("no counterpart: BISQ_RELAY_FCM_SECRET_OF_TOMORROW"))
        #expect(result.output.contains("onionbell key import"))
        #expect(!result.output.contains("hunter2") && !result.output.contains("PATH"))
    }

    @Test func soAreAUnitsLinesAndFilesOfWindows() throws {
        let lines = Self.environment.split(separator: "\n").map { line in
            line.hasPrefix("BISQ") ? "Environment=\"\(line)\"" : String(line)
        }
        try write(Array(lines.joined(separator: "\r\n").utf8), to: "relay.service")
        try expectAll(of: try initialize(from: "DIR/relay/relay.service"))
    }

    @Test func soAreItsPropertiesAndThoseOfItsCommandLine() throws {
        let properties = """
            ! bisq-relay
            server.port=8080
            fcm.firebaseUrl=https://bisqnotifications.firebaseio.com
            fcm.firebaseConfigurationFile: elsewhere.json
            fcm.sendDataOnly=false
            apns.bundleId=\(Self.topic)
            """
        try write(Array(properties.utf8), to: "application.properties")
        let options =
            "-Xmx64m -Dapns.certificateFile=push.p12 -Dapns.certificatePasswordFile=push.pass -Dfcm.firebaseConfigurationFile=account.json"
        try write(Array("BISQ_RELAY_OPTS=\"\(options)\"\n".utf8), to: "bisq-relay.env")
        let result = try initialize()
        try expectAll(of: result)
        for name in ["server.port", "fcm.firebaseUrl"] {
            #expect(result.output.contains("no counterpart: \(name) ("))
        }
    }

    /// Files that it takes where no setting names others.
    @Test func itsUsualFilesAreFound() throws {
        for (name, usual) in [
            ("push.p12", "apnsCertificate.production.p12"), ("push.pass", "apnsCertificatePassword.txt"),
            ("account.json", "fcmServiceAccountKey.json"),
        ] {
            try FileManager.default.moveItem(
                atPath: "\(directory)/relay/\(name)", toPath: "\(directory)/relay/\(usual)")
        }
        let result = try initialize(from: "DIR/relay", "--ios-topic", Self.topic)
        #expect(result.status == 0, "\(result.errors)")
        let text = try written()
        #expect(text.contains("certificate_file: credentials/apnsCertificate.production.p12\n"))
        #expect(text.contains("service_account_file: credentials/fcmServiceAccountKey.json\n"))
    }

    @Test func twoCredentialsOfOneNameInTwoFoldersAreRefused() throws {
        for folder in ["apns", "fcm"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/relay/\(folder)", withIntermediateDirectories: true)
        }
        try FileManager.default.moveItem(
            atPath: "\(directory)/relay/push.p12", toPath: "\(directory)/relay/apns/secret")
        try FileManager.default.moveItem(
            atPath: "\(directory)/relay/account.json", toPath: "\(directory)/relay/fcm/secret")
        let text = Self.environment.replacing("\"push.p12\"", with: "apns/secret")
            .replacing("account.json", with: "fcm/secret")
        try write(Array(text.utf8), to: ".env")
        let result = try initialize()
        #expect(result.status == 65, "\(result.output)")
        for name in ["apns/secret", "fcm/secret"] { #expect(result.errors.contains(name)) }
        #expect(!FileManager.default.fileExists(atPath: configuration))
    }

    @Test func googleStaysOffWhereItWas() throws {
        let off = Self.environment.replacing("FCM_ENABLED=true", with: "FCM_ENABLED=false")
        try write(Array(off.utf8), to: ".env")
        let result = try initialize()
        #expect(result.status == 0 && result.output.contains("FCM is off there"), "\(result.errors)")
        #expect(try !written().contains("service_account_file: credentials"))
    }

    @Test func whatCannotBeTakenOverIsSaid() throws {
        let inside = Self.environment.replacing("\"push.p12\"", with: "/run/secrets/apnsCertificate.p12")
        try write(Array(inside.utf8), to: ".env")
        try write(Array("A=b\n".utf8), to: "other.env")
        try write([UInt8](repeating: 65, count: 70_000), to: "large.env")
        for (place, words) in [
            ("DIR/relay", "a path inside a container"), ("DIR/nowhere", "there is no "),
            ("DIR/relay/other.env", "has nothing of bisq-relay"), ("DIR/etc", "has nothing of bisq-relay"),
            ("DIR/relay/large.env", "can't be read"), ("DIR/relay/push.p12", "has nothing of bisq-relay"),
        ] {
            let result = try initialize(from: place)
            #expect(result.status == 65 && result.errors.contains(words), "\(place): \(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: configuration))
        }
        for words in [["gorush", "DIR"], ["bisq-relay"], ["bisq-relay", "DIR", "DIR"]] {
            let result = try run([program, "init", "--config", configuration, "--from"] + words)
            #expect(result.status == 64 && result.errors.contains("--from bisq-relay"), "\(result.errors)")
        }
    }
}
