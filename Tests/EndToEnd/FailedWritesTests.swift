import Crypto
import Foundation
import Lab
import Persistence
import Reactor
import Testing
import Vectors

/// A disk refuses one call after the other of each command that writes keys, credentials and settings: afterwards all is as
/// before, or all is done.
@EventLoop
@Suite(.serialized) struct FailedWritesTests {
    private static let passphrase = "three bells in the fog"
    private let directory: LabDirectory
    /// All that the commands change.
    private var folder: String { directory.path + "/folder" }
    private var configuration: String { folder + "/onionbell.yaml" }
    private var state: String { folder + "/state" }

    init() throws {
        directory = try LabDirectory()
        _ = try directory.make("folder")
        try write("state_directory: \(folder)/state\n", to: configuration)
    }

    private func write(_ text: String, to path: String) throws {
        try LabDirectory.write(Array(text.utf8), to: path)
    }

    /// Files by their paths, each with its mode.
    ///
    /// - Parameter random: Files that are other ones each time they are made.
    private func content(random: [String] = []) throws -> [String: String] {
        var content: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            var status = stat()
            guard stat("\(folder)/\(path)", &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                !path.hasSuffix("/lock")
            else { continue }
            let bytes = random.contains(path) ? [] : try LabDirectory.read("\(folder)/\(path)")
            content[path] = "\(String(status.st_mode & 0o777, radix: 8)) \(bytes)"
        }
        return content
    }

    /// What a disk leaves that removes no files, or a process that was killed.
    private func isLeftOver(_ path: String) -> Bool {
        [".old", ".new"].contains { path.hasSuffix($0) }
    }

    private func putBack(_ copy: String) throws {
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.copyItem(atPath: copy, toPath: folder)
    }

    /// Tries a command with each of its calls refused; in short, with each fifth: each file takes seven.
    private func tryEach(
        _ way: FailingDisk.Way, _ words: [String], input: String = "", random: [String] = []
    ) throws {
        let copy = directory.path + "/before"
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        let before = try content(random: random)
        let whole = try run([program] + words, input: input)
        #expect(whole.status == 0, "\(whole.errors)")
        let done = try content(random: random)
        #expect(done != before)
        let disk = try FailingDisk(way, of: folder, in: directory.path)
        var number = 1
        repeat {
            try putBack(copy)
            try disk.refuse(call: number)
            let result = try? run([program] + words, input: input, environment: disk.environment)
            var after = try content(random: random)
            if way != .full { after = after.filter { !isLeftOver($0.key) } }
            if way == .killed {
                // Each file is one of both, and the command can be repeated.
                for (path, old) in before { #expect(after[path] == old || after[path] == done[path]) }
                _ = try run([program] + words, input: input)
                after = try content(random: random).filter { !isLeftOver($0.key) }
                #expect(after == done, "call \(number)")
            } else {
                #expect(after == before || after == done, "call \(number): \(result?.errors ?? "")")
                if result?.status == 0 { #expect(after == done, "call \(number)") }
            }
            number += isLong ? 1 : 5
        } while disk.hasRefused
        #expect(number > 5)
    }

    // MARK: Keys

    @Test(arguments: FailingDisk.Way.allCases)
    func keysOfAClusterAreTakenTogether(way: FailingDisk.Way) throws {
        let other = directory.path + "/other.yaml"
        try write("state_directory: \(try directory.make("other"))\n", to: other)
        let file = directory.path + "/cluster-keys"
        _ = try directory.make("folder/state")
        for (configuration, file) in [(other, file), (configuration, file + "-own")] {
            let made = try run(
                [program, "cluster", "export", file, "--passphrase-file", "-", "--config", configuration],
                input: Self.passphrase)
            #expect(made.status == 0, "\(made.errors)")
        }
        try tryEach(
            way,
            [
                "cluster", "import", file, "--force", "--credentials", folder + "/handed-over",
                "--passphrase-file", "-", "--config", configuration,
            ], input: Self.passphrase)
    }

    @Test(arguments: FailingDisk.Way.allCases)
    func aKeyIsThereWhateverBecomesOfItsImport(way: FailingDisk.Way) throws {
        for (name, digit) in [("one", "1"), ("two", "2")] {
            try write(String(repeating: digit, count: 64), to: "\(directory.path)/\(name)")
        }
        func words(_ name: String) -> [String] {
            ["key", "import", "\(directory.path)/\(name)", "--force", "--config", configuration]
        }
        #expect(try run([program] + words("one")).status == 0)
        try tryEach(way, words("two"))
    }

    @Test(arguments: FailingDisk.Way.allCases)
    func soIsTheKeyOfBrowsers(way: FailingDisk.Way) throws {
        for name in ["one", "two"] {
            let pem = try run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"]).output
            try write(pem, to: "\(directory.path)/\(name)")
        }
        func words(_ name: String) -> [String] {
            ["key", "import", "--vapid", "\(directory.path)/\(name)", "--force", "--config", configuration]
        }
        #expect(try run([program] + words("one")).status == 0)
        try tryEach(way, words("two"))
    }

    // MARK: Settings

    private func credentials() throws -> LabCredentials {
        let credentials = try LabCredentials()
        try LabDirectory.write(
            try credentials.providerKeyPEM(), to: directory.path + "/AuthKey_ABC123DEFG.p8")
        try LabDirectory.write(
            try credentials.serviceAccountFile(tokenURL: "https://localhost/token"),
            to: directory.path + "/account.json")
        // Others of these names are there.
        _ = try directory.make("folder/credentials")
        for name in ["AuthKey_ABC123DEFG.p8", "account.json"] {
            try write("the old one", to: "\(folder)/credentials/\(name)")
        }
        return credentials
    }

    @Test(arguments: FailingDisk.Way.allCases)
    func aConfigurationComesWithItsCredentials(way: FailingDisk.Way) throws {
        _ = try credentials()
        try tryEach(
            way,
            [
                "init", "--defaults", "--force", "--config", configuration, "--state-directory", state,
                "--ios-key", directory.path + "/AuthKey_ABC123DEFG.p8", "--ios-team-id", "DEF123GHIJ",
                "--android-account", directory.path + "/account.json",
            ])
    }

    @Test(arguments: [FailingDisk.Way.once, .full])
    func soDoesTheKeyForHTTPS(way: FailingDisk.Way) throws {
        try tryEach(
            way,
            [
                "init", "--defaults", "--force", "--config", configuration, "--https-name",
                "push.example.org",
            ], random: ["credentials/https-key.pem", "credentials/https-request.pem"])
    }

    @Test(arguments: FailingDisk.Way.allCases)
    func soDoesThatOfABisqRelay(way: FailingDisk.Way) throws {
        let topic = "bisq.mobile.client.BisqConnect"
        let relay = try directory.make("relay")
        let credentials = try credentials()
        try LabDirectory.write(
            try credentials.certificateFile(topic: topic, password: "secret"), to: relay + "/push.p12")
        try write("secret\n", to: relay + "/push.pass")
        try write(
            """
            BISQ_RELAY_APNS_BUNDLE_ID=\(topic)
            BISQ_RELAY_APNS_CERTIFICATE_FILE=push.p12
            BISQ_RELAY_APNS_CERTIFICATE_PASSWORD_FILE=push.pass
            BISQ_RELAY_FCM_FIREBASE_CONFIGURATION_FILE=../account.json
            """, to: relay + "/.env")
        try tryEach(way, ["init", "--force", "--config", configuration, "--from", "bisq-relay", relay])
    }
}
