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

    /// Every option and argument by which a command is given a file, as the program itself lists them. A new one needs the words
    /// here that come to its reading: it must not wait for a pipe either.
    @Test func noFileThatACommandIsGivenIsWaitedFor() throws {
        try FileManager.default.createDirectory(
            atPath: directory + "/state", withIntermediateDirectories: true)
        chmod(directory + "/state", 0o700)
        try settings("")
        let (pipe, plain) = (makePipe("pipe"), directory + "/plain")
        let token = "android|Pixel|\(String(repeating: "k", count: 32))|\(String(repeating: "t", count: 40))"
        try #"{"pairingToken":"\#(token)","url":"http://127.0.0.1:1/t","readers":{}}"#.write(
            toFile: plain, atomically: false, encoding: .utf8)
        let key = ["key", "import", "--config", configuration]
        try String(repeating: "1", count: 64).write(
            toFile: directory + "/key", atomically: false, encoding: .utf8)
        let imported = try run([program] + key + [directory + "/key"])
        let address = try #require(imported.output.split(separator: " ").last).filter { $0 != "\n" }
        let distant = directory + "/distant"
        try #"{"pairingToken":"\#(token)","url":"http://\#(address)/t","readers":{}}"#.write(
            toFile: distant, atomically: false, encoding: .utf8)
        // As a node that was killed leaves it: commands that speak to it come as far as the passphrase.
        try "".write(toFile: directory + "/state/status", atomically: false, encoding: .utf8)
        let iOS = ["init", "--force", "--ios-topic", "t"]
        let words: [String: [String]] = [
            "init --from": ["init", "--force", "--from", "bisq-relay", pipe],
            "init --ios-key": iOS + [
                "--ios-team-id", "ABCDE12345", "--ios-key-id", "ABCDE12345", "--ios-key", pipe,
            ],
            "init --ios-certificate": iOS + ["--ios-certificate", pipe],
            "init --ios-certificate-password": iOS + [
                "--ios-certificate", plain, "--ios-certificate-password", pipe,
            ],
            "init --android-account": ["init", "--force", "--android-account", pipe],
            "backup --passphrase-file": ["backup", directory + "/new", "--passphrase-file", pipe],
            "backup file": ["backup", pipe, "--passphrase-file", plain],
            "restore --passphrase-file": ["restore", plain, "--passphrase-file", pipe],
            "restore file": ["restore", pipe, "--passphrase-file", plain],
            "key export file": ["key", "export", pipe], "key import file": ["key", "import", pipe],
            "cluster export --passphrase-file": [
                "cluster", "export", directory + "/new", "--passphrase-file", pipe,
            ],
            "cluster export file": ["cluster", "export", pipe, "--passphrase-file", plain],
            "cluster import --passphrase-file": ["cluster", "import", plain, "--passphrase-file", pipe],
            "cluster import file": ["cluster", "import", pipe, "--passphrase-file", plain],
            "receive --mailbox": ["receive", "--mailbox", pipe, "--file", directory + "/book"],
            "receive --file": ["receive", "--mailbox", plain, "--file", pipe],
            "receive --passphrase-file": ["receive", "--mailbox", plain, "--passphrase-file", pipe],
            "receive --torrc": [
                "receive", "--once", "--mailbox", distant, "--file", directory + "/book2", "--tor", "tor",
                "--torrc", pipe,
            ],
            "bisq-agent --mailbox": [
                "bisq-agent", "--mailbox", pipe, "--on", "paused=/bin/true", "--file", directory + "/book",
            ],
            "bisq-agent --file": [
                "bisq-agent", "--mailbox", plain, "--on", "paused=/bin/true", "--file", pipe,
            ],
            "bisq-agent --torrc": [
                "bisq-agent", "--once", "--mailbox", distant, "--on", "paused=/bin/true", "--file",
                directory + "/counter", "--tor", "tor", "--torrc", pipe,
            ],
            "watch --torrc": ["watch", "--to", address, "--tor", "tor", "--torrc", pipe],
        ]
        var given: Set<String> = []
        for (command, argument) in try argumentsOfFiles() where argument.name != "--config" {
            given.insert((command + [argument.name]).joined(separator: " "))
        }
        #expect(given == Set(words.keys))
        let withSettings = Set(
            try argumentsOfFiles().filter { $0.argument.name == "--config" }.map(\.command))
        for (name, words) in words {
            let command = Array(name.split(separator: " ").map(String.init).dropLast())
            let settings = withSettings.contains(command) ? ["--config", configuration] : []
            let result = try run([program] + words + settings)
            let isNamed = (result.errors + result.output).contains("pipe")
            #expect(result.status != 0 && isNamed, "\(name): \(result)")
        }
        for (command, argument) in try argumentsOfFiles() where argument.name == "--config" {
            let result = try run([program] + command + argument.others + ["--config", pipe])
            #expect(result.status != 0, "\(command): \(result)")
        }
    }

    /// An option or argument that names a file, and what else its command must have.
    private struct FileArgument {
        var name: String
        var others: [String]
    }

    /// Asks the program for all its commands. Its list is longer than what the project's own reader of JSON takes.
    private func argumentsOfFiles() throws -> [(command: [String], argument: FileArgument)] {
        let script = """
            import json, sys
            def name(a): return "--" + a["names"][-1]["name"] if a.get("names") else a["valueName"]
            def walk(command, path):
                given = command.get("arguments", [])
                others = [w for a in given if not a["isOptional"]
                    for w in (["x"] if a["kind"] == "positional" else [name(a), "x"])]
                for a in given:
                    if "file" in a.get("completionKind", {}) or a.get("valueName") == "file":
                        print("\\t".join(" ".join(w) for w in (path, [name(a)], others)))
                for c in command.get("subcommands", []): walk(c, path + [c["commandName"]])
            walk(json.load(sys.stdin)["command"], [])
            """
        let list = try run([program, "--experimental-dump-help"]).output
        return try run(["python3", "-c", script], input: list).output.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let words = parts.map { $0.split(separator: " ").map(String.init) }
            return (words[0], FileArgument(name: parts[1], others: words[2]))
        }
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
