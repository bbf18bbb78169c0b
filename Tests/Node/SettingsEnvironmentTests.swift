import Testing

@testable import Node

@Suite struct SettingsEnvironmentTests {
    /// A single-valued key: a value for the file, another for the environment, and where it can be seen.
    typealias Key = (key: String, file: String, variable: String, value: @Sendable (Settings) -> String)

    private static let keys =
        ownKeys + webPushKeys + SettingsStatusIMTests.keys + SettingsBitwardenTests.keys
        + SettingsDefenceTests.keys

    private static let webPushKeys: [Key] = [
        ("doors.web_push.ios", "a", "b", { $0.doors.webPush.settings.relay.ios }),
        ("doors.web_push.android", "c", "d", { $0.doors.webPush.settings.relay.android }),
        ("doors.web_push.push_ios", "a", "b", { $0.doors.webPush.settings.pushApp }),
        (
            "doors.web_push.outcome_deadline", "3", "4",
            { "\($0.doors.webPush.settings.outcomeDeadline.components.seconds)" }
        ),
        ("doors.web_push.ids", "true", "false", { "\($0.doors.webPush.settings.givesIDs)" }),
        ("doors.web_push.requests", "3", "4", { "\($0.doors.webPush.door.limits.requests)" }),
        ("doors.web_push.rate", "3", "4", { "\($0.doors.webPush.door.limits.rate)" }),
        ("doors.web_push.body_bytes", "2000", "3000", { "\($0.doors.webPush.door.limits.body)" }),
        ("doors.phone_page.url", "https://a/", "https://b:1/c/", { $0.doors.phonePage.url }),
        ("doors.phone_page.requests", "3", "4", { "\($0.doors.phonePage.door.limits.requests)" }),
        ("doors.phone_page.rate", "3", "4", { "\($0.doors.phonePage.door.limits.rate)" }),
        ("doors.mailbox.url", "http://a", "http://b", { $0.doors.mailbox.url }),
        ("doors.mailbox.readers", "3", "4", { "\($0.doors.mailbox.settings.readers)" }),
        ("doors.mailbox.rate", "3", "4", { "\($0.doors.mailbox.settings.rate)" }),
        ("doors.mailbox.messages", "3", "4", { "\($0.doors.mailbox.settings.bounds.messages)" }),
    ]

    private static let ownKeys: [Key] = [
        ("state_directory", "/a", "/b", { $0.stateDirectory }),
        ("tor.mode", "own", "system", { $0.tor.mode.rawValue }),
        ("tor.binary", "a", "b", { $0.tor.binary }),
        ("tor.torrc", "/a", "/b", { $0.tor.torrc }),
        ("tor.control", "127.0.0.1:1", "127.0.0.1:2", { $0.tor.control.description }),
        ("tor.cookie_file", "/a", "/b", { $0.tor.cookieFile }),
        ("tor.password_file", "/a", "/b", { $0.tor.passwordFile }),
        ("tor.socks", "127.0.0.1:1", "unix:/b", { $0.tor.socks?.description ?? "" }),
        ("tor.heartbeat", "11", "12", { "\($0.tor.heartbeat.components.seconds)" }),
        (
            "onion.public_address", "6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion",
            "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion", { $0.onion.publicAddress }
        ),
        ("onion.upload_timeout", "11", "12", { "\($0.onion.uploadTimeout.components.seconds)" }),
        ("onion.self_dial_interval", "11", "12", { "\($0.onion.selfDial.interval.components.seconds)" }),
        ("onion.self_dial_timeout", "11", "12", { "\($0.onion.selfDial.timeout.components.seconds)" }),
        ("onion.self_dial_failures", "11", "12", { "\($0.onion.selfDial.failures)" }),
        ("onion.peer_port", "1", "2", { "\($0.onion.peerPort)" }),
        ("onion.network", "testnet", "regtest", { $0.onion.network.rawValue }),
        ("onion.peer_listen", "127.0.0.1:1", "unix:/b", { "\($0.onion.peerListen!)" }),
        ("onion.http_listen", "127.0.0.1:1", "unix:/b", { "\($0.onion.httpListen!)" }),
        ("onion.socket_directory", "/a", "/b", { $0.onion.socketDirectory }),
        ("http.bisq1.ios", "a", "b", { $0.bisqRelay.bisq1.ios }),
        ("http.bisq1.android", "c", "d", { $0.bisqRelay.bisq1.android }),
        ("http.bisq2.ios", "a", "b", { $0.bisqRelay.bisq2.ios }),
        ("http.bisq2.android", "c", "d", { $0.bisqRelay.bisq2.android }),
        ("http.outcome_deadline", "11", "12", { "\($0.bisqRelay.outcomeDeadline.components.seconds)" }),
        ("http.connections", "11", "12", { "\($0.http.connections)" }),
        ("http.request_deadline", "11", "12", { "\($0.http.requestDeadline.components.seconds)" }),
        ("http.idle_timeout", "11", "12", { "\($0.http.idleTimeout.components.seconds)" }),
        ("http.client_address_header", "x-a", "x-b", { $0.http.clientAddressHeader }),
        ("doors.https.connections_per_address", "11", "12", { "\($0.http.connectionsPerAddress)" }),
        ("doors.https.handshakes", "11", "12", { "\($0.doors.handshakes)" }),
        ("doors.https.handshakes_per_address", "11", "12", { "\($0.doors.handshakesPerAddress)" }),
        ("doors.https.certificate_file", "/a", "/b", { $0.doors.certificateFile }),
        ("doors.https.key_file", "/a", "/b", { $0.doors.keyFile }),
        ("defaults.ios", "a", "b", { $0.defaultIOS }),
        ("defaults.android", "c", "d", { $0.defaultAndroid }),
        ("peers.connections", "11", "12", { "\($0.peers.connections)" }),
        ("peers.idle_timeout", "11", "12", { "\($0.peers.idleTimeout.components.seconds)" }),
        ("peers.frame_deadline", "11", "12", { "\($0.peers.frameDeadline.components.seconds)" }),
        ("peers.frame_bytes", "8193", "8194", { "\($0.peers.limits.frameLength)" }),
        ("peers.frames_per_second", "11", "12", { "\($0.peers.limits.framesPerSecond)" }),
        ("peers.frames_per_ten_seconds", "11", "12", { "\($0.peers.limits.framesPerTenSeconds)" }),
        ("peers.unanswered", "11", "12", { "\($0.peers.unanswered)" }),
        ("limits.token_rate", "1.5", "2.5", { "\($0.limits.tokenRate)" }),
        ("limits.token_burst", "11", "12", { "\($0.limits.tokenBurst)" }),
        ("limits.waiting_per_token", "11", "12", { "\($0.limits.waitingPerToken)" }),
        ("limits.waiting", "11", "12", { "\($0.limits.waiting)" }),
        ("limits.waiting_bytes", "65537", "65538", { "\($0.limits.waitingBytes)" }),
        ("limits.buffer_bytes", "1048577", "1048578", { "\($0.bufferBytes)" }),
        ("limits.lifetime", "61", "62", { "\($0.lifetime.components.seconds)" }),
        ("storage.write_behind", "1.0", "2.0", { "\(Double($0.writeBehind.milliseconds) / 1000)" }),
        ("storage.url", "postgresql:///a", "postgresql:///b", { $0.storage.url }),
        ("storage.password_file", "/a", "/b", { $0.storage.passwordFile }),
        ("limits.identity_memory", "61", "62", { "\($0.identityMemory.components.seconds)" }),
        ("limits.dead_token_memory", "61", "62", { "\($0.deadTokenMemory.components.seconds)" }),
        ("management.listen", "127.0.0.1:1", "127.0.0.1:2", { $0.managementListen.description }),
        ("log.level", "debug", "error", { $0.log.level.rawValue }),
        ("log.format", "text", "json", { $0.log.format.rawValue }),
    ]

    /// For the defaults.
    private static let apps = """
        apps:
          - {name: a, gateway: apns, topic: t}
          - {name: b, gateway: apns, topic: t}
          - {name: c, gateway: fcm}
          - {name: d, gateway: fcm}
        """

    @Test func theEnvironmentWinsOverTheFileForEverySingleValue() throws {
        for (key, file, variable, value) in Self.keys {
            let parts = key.split(separator: ".")
            let line =
                parts.dropLast().map { "\($0): {" }.joined() + "\(parts.last!): '\(file)'"
                + String(repeating: "}", count: parts.count - 1)
            let yaml = "\(line)\n\(Self.apps)\n"
            let name = "ONIONBELL_" + parts.joined(separator: "_").uppercased()
            #expect(value(try settings(yaml)) == file, "\(key)")
            #expect(value(try settings(yaml, environment: [name: variable])) == variable, "\(key)")
            #expect(value(try settings(Self.apps, environment: [name: variable])) == variable, "\(key)")
        }
    }

    @Test func thereIsAVariableForEverySingleValueAndForNothingElse() throws {
        let reader = SettingsReader(environment: [:], directory: ".")
        _ = Settings(SettingsReader.Section(reader, node: try SettingsText.parse(Self.apps)))
        let names = Self.keys.map { SettingsReader.environmentName(of: $0.key) }
        #expect(Set(names).count == names.count)
        #expect(reader.environmentNames == Set(names))
    }

    @Test func aValueFromTheEnvironmentIsCheckedUnderItsOwnName() {
        #expect(
            faults("onion:\n  peer_port: 1", environment: ["ONIONBELL_ONION_PEER_PORT": "0"]) == [
                "ONIONBELL_ONION_PEER_PORT: \"0\" is not allowed; a whole number from 1 to 65535"
            ])
        #expect(
            faults("", environment: ["ONIONBELL_MANAGEMENT_LISTEN": "0.0.0.0:80"]) == [
                "ONIONBELL_MANAGEMENT_LISTEN: must be a loopback address or a Unix socket, because it has no login"
            ])
        #expect(
            faults("", environment: ["ONIONBELL_DEFAULTS_IOS": "x"]) == [
                "ONIONBELL_DEFAULTS_IOS: no app has the name x"
            ])
        #expect(
            faults("", environment: ["ONIONBELL_STATE_DIRECTORY": ""]) == [
                "ONIONBELL_STATE_DIRECTORY: must not be empty"
            ])
    }

    @Test func aWrongValueInTheFileDoesNotMatterWhenTheEnvironmentHasOne() {
        #expect(faults("tor:\n  mode: [1]", environment: ["ONIONBELL_TOR_MODE": "own"]) == [])
    }

    @Test(arguments: [
        ("ONIONBELL_TOR_MODUS", "; did you mean ONIONBELL_TOR_MODE?"),
        ("ONIONBELL_", ""),
        ("ONIONBELL_QUITE_ANOTHER_THING_ALTOGETHER", ""),
        ("ONIONBELL_ONION_HTTP_PORTS", "; lists can only be set in the file"),
        ("ONIONBELL_APPS", "; lists can only be set in the file"),
        ("ONIONBELL_tor_mode", "; did you mean ONIONBELL_TOR_MODE?"),
    ])
    func aVariableWithOurPrefixThatIsNoSettingIsAFault(name: String, hint: String) {
        let found = faults("", environment: [name: "x"])
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("\(name): no such setting in the environment") == true)
        #expect(found.first?.hasSuffix("environment\(hint)") == true, "\(found)")
    }

    @Test func otherVariablesAreNotOurs() {
        let environment = [
            "PATH": "/bin", "ONIONBELLS": "7", "ONIONBELL": "1",
            // Of `onionbell watch --exec`.
            "ONIONBELL_STATE": "well", "ONIONBELL_REASON": "", "ONIONBELL_ADDRESS": "x.onion",
            "ONIONBELL_ID": "7", "ONIONBELL_TITLE": "a", "ONIONBELL_REPLY_TEXT": "yes",
        ]
        #expect(faults("", environment: environment) == [])
    }

    @Test func aRelativePathFromTheEnvironmentBeginsAtTheDirectoryOfTheFileToo() throws {
        let read = try settings("", environment: ["ONIONBELL_STATE_DIRECTORY": "state"])
        #expect(read.stateDirectory == "/etc/onionbell/state")
    }
}
