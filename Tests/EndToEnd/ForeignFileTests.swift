import Foundation
import Lab
import Testing

/// Files of others that commands read: pipes, devices, depth, control characters, and secrets in the wrong place.
@Suite struct ForeignFileTests {
    private let directory: String
    private var configuration: String { directory + "/onionbell.yaml" }

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/onionbell-foreign-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory + "/relay", withIntermediateDirectories: true)
    }

    private func settings(_ text: String) throws {
        try "state_directory: \(directory)/state\n\(text)".write(
            toFile: configuration, atomically: true, encoding: .utf8)
    }

    private func makePipe(_ name: String) -> String {
        let path = "\(directory)/\(name)"
        #expect(mkfifo(path, 0o600) == 0)
        return path
    }

    /// Nobody writes into the pipe: whoever waits for it waits for ever.
    @Test func noCommandWaitsForAPipe() throws {
        try settings("")
        let pipe = makePipe("pipe")
        _ = makePipe("relay/.env")
        let commands = [
            ["init", "--config", configuration, "--force", "--from", "bisq-relay", directory + "/relay"],
            ["init", "--config", configuration, "--force", "--from", "bisq-relay", pipe],
            ["init", "--config", configuration, "--force", "--android-account", pipe],
            ["key", "import", pipe, "--config", configuration],
            ["key", "import", "--vapid", pipe, "--config", configuration],
            ["cluster", "import", pipe, "--config", configuration, "--passphrase-file", "/dev/null"],
            ["restore", pipe, "--config", configuration, "--passphrase-file", "/dev/null"],
            ["check-config", "--config", pipe],
        ]
        for words in commands { #expect(try run([program] + words).status != 0, "\(words)") }
        // A key beside a pipe is a key.
        try String(repeating: "1", count: 64).write(
            toFile: directory + "/relay/key", atomically: false, encoding: .utf8)
        _ = makePipe("relay/hostname")
        let key = ["key", "import", directory + "/relay/key", "--config", configuration]
        #expect(try run([program] + key).status == 0)
    }

    /// Options in options cost no time, and are none.
    @Test func optionsStandInNoOptions() throws {
        let nested = String(repeating: "-DOPTS=", count: 4000) + "-Dapns.bundleId=other"
        try "BISQ_RELAY_OPTS=\(nested)\nBISQ_RELAY_APNS_BUNDLE_ID=mine\n".write(
            toFile: directory + "/relay/.env", atomically: false, encoding: .utf8)
        let result = try run(
            [
                program, "init", "--config", configuration, "--force", "--from", "bisq-relay",
                directory + "/relay",
            ])
        #expect(result.output.contains("options stand in no options"), "\(result)")
        let text = try? String(contentsOfFile: configuration, encoding: .utf8)
        #expect(text?.contains("other") != true)
    }

    @Test func noControlCharacterOfAFileReachesTheTerminal() throws {
        let escape = "\u{1b}[2J\u{9b}31m\u{202e}"
        let folder = directory + "/re\(escape)lay"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "BISQ_RELAY_APNS_CERTIFICATE_FILE=\(escape).p12\nBISQ_RELAY_\(escape)=1\n".write(
            toFile: folder + "/.env", atomically: false, encoding: .utf8)
        try settings("apps:\n  - {name: \"\\e[2J\", gateway: \"\\e[2J\"}\n\"\\e[2J\": 1\n")
        let commands = [
            ["init", "--config", configuration + "2", "--from", "bisq-relay", folder],
            ["init", "--config", configuration + "2", "--from", "bisq-relay", folder + "/none"],
            ["key", "import", folder + "/none", "--config", configuration],
            ["check-config", "--config", configuration], ["check-config", "--config", folder + "/none"],
        ]
        for words in commands {
            let result = try run([program] + words)
            #expect(result.status != 0, "\(words)")
            let said = result.errors + result.output
            #expect(
                !said.unicodeScalars.contains {
                    $0.value < 0x20 && $0.value != 10 || (0x7f..<0xa0).contains($0.value)
                        || $0.value == 0x202e
                }, "\(words): \(said.debugDescription)")
        }
    }

    /// The owner has written the secret itself where its file belongs, or into an address.
    @Test(
        arguments: [
            "apps: [{name: a, gateway: ntfy, url: https://ntfy.example, token_file: tk_SECRET}]",
            "apps: [{name: a, gateway: ntfy, url: \"https://user:SECRET@ntfy.example\"}]",
            "apps: [{name: a, gateway: ntfy, url: \"https://ntfy.example/?auth=SECRET\"}]",
            "apps: [{name: a, gateway: ntfy, url: \"https://ntfy.example/a#SECRET\"}]",
            "apps: [{name: a, gateway: relay, url: \"http://user:SECRET@relay.example\"}]",
            "apps: [{name: a, gateway: relay, url: \"http://relay.example/?token=SECRET\"}]",
            "apps: [{name: a, gateway: fcm, service_account_file: SECRETSECRETSECRET}]",
            "apps: [{name: a, gateway: fcm, service_account_file: a.json, base_url: \"https://x:SECRET@y\"}]",
            "doors: {gorush: {secret_file: SECRET}}", "storage: {password_file: SECRET}",
            "tor: {password_file: SECRET}", "storage: {url: \"postgresql://u:SECRET@h/d\"}",
            "gateways: {proxy: \"socks5://user:SECRET@127.0.0.1:9\"}",
        ])
    func noFaultShowsASecret(text: String) throws {
        try settings(text + "\n")
        for words in [["check-config"], ["check-config", "--json"]] {
            let result = try run([program] + words + ["--config", configuration])
            #expect(result.status == 78, "\(text)")
            #expect(!(result.errors + result.output).contains("SECRET"), "\(result)")
        }
    }
}
