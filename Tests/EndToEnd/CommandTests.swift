import Client
import Foundation
import Lab
import Reactor
import Testing
import Wire

/// The program's commands as a user runs them.
@Suite struct CommandTests {
    private func directory() throws -> String {
        let path = shortPath("command")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func file(_ text: String, in directory: String) throws -> String {
        let path = directory + "/onionbell.yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func aTokenMadeByPairOpensWhatWasSealedForIt() throws {
        for platform in ["android", "iOS", "iOSDev"] {
            let made = try run([program, "pair", "--platform", platform, "--text-only"])
            #expect(made.status == 0)
            let token = made.output.trimmingCharacters(in: .newlines)
            let message = PhoneText(
                sentDate: 1, transactionID: "id", title: "Title", message: "Text", kind: .offer,
                actionRequired: "",
                version: 1)
            let sealed = try BisqSender(to: PairingToken(token)).seal(message).text
            let opened = try run([program, "decrypt", "--pairing-token", "-", sealed], input: token + "\n")
            #expect(opened.status == 0)
            #expect(opened.output == "type: OFFER\ntitle: Title\nmessage: Text\ntrade: id\n")
        }
    }

    @Test func pairShowsAQRCode() throws {
        let made = try run([program, "pair"])
        #expect(made.output.contains("█"))
        #expect(made.output.split(separator: "\n").count > 20)
    }

    @Test func checkConfigTellsEveryFaultAtOnceAndExits78() throws {
        let path = try file(
            """
            state_directory: /tmp/x
            tor:
              mod: own
              mode: other
            onion:
              peer_port: 70000
            apps:
              - name: a
                gateway: apns
                topic: t
                key_file: missing.p8
                key_id: ABC123DEFG
                team_id: DEF123GHIJ
            """, in: try directory())
        let result = try run([program, "check-config", "--config", path])
        #expect(result.status == 78)
        #expect(result.errors.contains("tor.mod: unknown key; did you mean mode?"))
        #expect(result.errors.contains("tor.mode: \"other\" is not allowed; one of own, instance, system"))
        #expect(
            result.errors.contains(
                "onion.peer_port: \"70000\" is not allowed; a whole number from 1 to 65535"))
    }

    @Test(arguments: ["check-config", "run"])
    func anUnreadableKeyIsNamedWithItsSettingAndExits78(command: String) throws {
        let directory = try directory()
        let path = try file(
            """
            state_directory: \(directory)/state
            apps:
              - {name: a, gateway: apns, topic: t, key_file: missing.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}
            """, in: directory)
        let result = try run([program, command, "--config", path])
        #expect(result.status == 78)
        #expect(result.errors.contains("apps[0].key_file"))
        #expect(result.errors.contains("missing.p8"))
    }

    /// A check is made as who will run: here the owner of the state directory, whom root has locked out of a file.
    @Test(.enabled(if: geteuid() == 0), arguments: ["key", "settings", "state", "nothing"])
    func checkConfigAsRootChecksForTheNodesUser(locked: String) throws {
        // Into a person's own temporary folder no other user may look.
        let (directory, nobody) = ("/tmp/onionbell-user-\(UInt32.random(in: 0 ... .max))", uid_t(65_534))
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (state, key) = (directory + "/state", directory + "/AuthKey.p8")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        try Data(try LabCredentials().providerKeyPEM()).write(to: URL(filePath: key))
        let path = try file(
            """
            state_directory: state
            onion: {socket_directory: state}
            apps:
              - {name: a, gateway: apns, topic: t, key_file: AuthKey.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}
            """, in: directory)
        chmod(directory, 0o755)
        for (name, mode) in [(key, 0o644), (path, 0o644), (state, 0o700)] as [(String, mode_t)] {
            chmod(name, mode)
        }
        #expect(chown(state, nobody, nobody) == 0)
        switch locked {
        case "key": chmod(key, 0o600)
        case "settings": chmod(path, 0o600)
        case "state": chmod(state, 0o500)
        default: break
        }
        let result = try run([program, "check-config", "--config", path])
        #expect(result.status == (locked == "nothing" ? 0 : 78), "\(result.errors)")
        let words = [
            "key": "apps[0]: ", "settings": "can't read \(path)", "state": "can't write into \(state)",
            "nothing": "",
        ]
        #expect(result.errors.contains(words[locked] ?? "?") || locked == "nothing", "\(result.errors)")
    }

    /// Tor's cookie is read by who will run: it may lie behind a folder of tor's, and it may be another file.
    @Test(
        .enabled(if: geteuid() == 0),
        arguments: [
            ("folder", 78, "can't read"), ("file", 78, "can't read"), ("short", 78, "does not have 32 bytes"),
            ("pipe", 78, "no regular file"), ("none", 0, "there is no"), ("own", 0, "no errors"),
            ("readable", 0, "no errors"),
        ] as [(String, Int32, String)])
    func aCookieThatTheNodeCannotReadIsAFault(kind: String, status: Int32, words: String) throws {
        let (directory, nobody) = ("/tmp/onionbell-cookie-\(UInt32.random(in: 0 ... .max))", uid_t(65_534))
        let (state, tors) = (directory + "/state", directory + "/tor")
        for path in [state, tors] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cookie = tors + "/control.authcookie"
        switch kind {
        case "pipe": mkfifo(cookie, 0o644)
        case "none": break
        case _: try Data(count: kind == "short" ? 31 : 32).write(to: URL(filePath: cookie))
        }
        let path = try file(
            """
            state_directory: state
            onion: {socket_directory: state}
            tor: {mode: \(kind == "own" ? "own" : "system"), cookie_file: \(cookie)}
            """, in: directory)
        for (name, mode) in [(directory, 0o755), (path, 0o644), (state, 0o700)] as [(String, mode_t)] {
            chmod(name, mode)
        }
        chmod(tors, kind == "folder" || kind == "own" ? 0o750 : 0o755)
        chmod(cookie, kind == "file" ? 0o640 : 0o644)
        #expect(chown(state, nobody, nobody) == 0)
        let result = try run([program, "check-config", "--config", path])
        #expect(result.status == status, "\(result)")
        #expect((result.errors + result.output).contains(words), "\(result)")
        #expect((result.errors.contains("tor.cookie_file")) == (status == 78), "\(result)")
    }

    @Test func aTakenPortIsSaidWithItsKeyAndExits69() async throws {
        let listener = try await Listener(on: .host("127.0.0.1", port: 0)) { _ in }
        let directory = try directory()
        let endpoint = await listener.endpoint
        let path = try file(
            "{state_directory: \(directory)/state, management: {listen: \"\(endpoint)\"}}", in: directory)
        let result = try run([program, "run", "--config", path])
        #expect(result.status == 69)
        #expect(result.errors.contains("management.listen"))
        #expect(result.errors.contains("\(endpoint)"))
        // Nothing was published, so nothing is withdrawn.
        #expect(!result.errors.contains("onion.withdrawn"))
        await listener.close()
    }

    @Test func aTorThatIsMissingOrWontStartIsSaidInASentenceAndExits69() throws {
        let directory = try directory()
        let missing = try file(
            """
            state_directory: \(directory)/state
            tor: {binary: /no/such/tor, torrc: \(projectTorrc)}
            management: {listen: "127.0.0.1:0"}
            """, in: directory)
        let first = try run([program, "run", "--config", missing])
        #expect(first.status == 69)
        #expect(first.errors.contains("there is no tor at /no/such/tor"))
        try "NoSuchOption 1\n".write(toFile: directory + "/broken-torrc", atomically: true, encoding: .utf8)
        let broken = try file(
            """
            state_directory: \(directory)/state
            tor: {torrc: broken-torrc}
            management: {listen: "127.0.0.1:0"}
            """, in: directory)
        let second = try run([program, "run", "--config", broken])
        #expect(second.status == 69)
        #expect(second.errors.contains("NoSuchOption"))
    }

    @Test func aSecondNodeInTheSameStateDirectoryIsRefused() async throws {
        let directory = try directory()
        let path = try file(
            """
            state_directory: \(directory)/state
            tor: {mode: system, control: "unix:\(directory)/nobody"}
            onion: {socket_directory: \(directory)}
            management: {listen: "unix:\(directory)/management"}
            """, in: directory)
        let first = try await LabNode(nodeProgram, configuration: path)
        // It has noted itself in the lock, and waits 30 s for the tor that never comes.
        let lock = directory + "/state/lock"
        try await until { FileManager.default.contents(atPath: lock)?.isEmpty == false }
        let second = try run([program, "run", "--config", path])
        #expect(second.status == 69)
        #expect(second.errors.contains("another onionbell runs"))
        #expect(await first.stop() == .exited(0))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can run it as another user"))
    func whoeverMayNotReadTheConfigurationIsToldWhoMay() throws {
        let path = try file("log: {level: info}", in: try directory())
        chmod(path, 0o600)
        let result = try run([
            "setpriv", "--reuid=65534", "--clear-groups", program, "status", "--config", path,
        ])
        #expect(result.status == 78, "\(result)")
        #expect(result.errors.contains("as root, or as the node's user"), "\(result.errors)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can run it as another user"))
    func whoeverMayNotReadTheStateIsToldWhoMay() throws {
        // Whatever TMPDIR is, others may enter this one.
        let directory = "/tmp/onionbell-command-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = try file("state_directory: \(directory)/state", in: directory)
        try FileManager.default.createDirectory(
            atPath: directory + "/state", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let result = try run([
            "setpriv", "--reuid=65534", "--clear-groups", program, "registrations", "list", "--config", path,
        ])
        #expect(result.status == 77, "\(result)")
        #expect(result.errors.contains("Run this as the node's user: sudo -u onionbell"), "\(result.errors)")
    }

    @Test func sendSaysWhenNobodyIsThere() throws {
        let token = try run([program, "pair", "--text-only"]).output.trimmingCharacters(in: .newlines)
        let result = try run([
            program, "send", "--to", "127.0.0.1:1", "--pairing-token", token, "--title", "t", "--message",
            "m",
            "--timeout", "5",
        ])
        #expect(result.status == 69)
        #expect(result.errors.contains("127.0.0.1:1"))
    }

    /// At once, without a circuit and without a name server.
    @Test func sendAndWatchSayWhichAddressIsNone() throws {
        let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid"
        let token = try run([program, "pair", "--text-only"]).output.trimmingCharacters(in: .newlines)
        for (address, words) in [
            ("3\(onion.dropFirst()).onion", "a letter is wrong or missing"),
            (onion, "\(onion).onion"), ("relay.example.org", "is no onion address"),
        ] {
            for command in [
                ["send", "--pairing-token", token, "--title", "t", "--message", "m"], ["watch"],
            ] {
                // Nothing listens there: whoever dials it is told something else.
                let result = try run(
                    [program] + command + ["--to", address, "--socks", "127.0.0.1:1", "--timeout", "5"])
                #expect(result.status == 64, "\(result.errors)")
                #expect(result.errors.contains(words))
            }
        }
    }
}
