import Testing

@testable import Node

@Suite struct SettingsFaultTests {
    @Test func nothingAtAllIsTheDefaults() throws {
        for yaml in ["", "\n", "# a comment\n", "---\n", "tor:\n", "tor: ~\npeers: null\n", "tor: {}"] {
            let read = try settings(yaml)
            #expect(content(of: read) == content(of: try settings("")), "\(yaml)")
            var others = read
            (others.features, others.built) = ([], Settings().built)
            #expect(content(of: others) == content(of: Settings()), "\(yaml)")
        }
    }

    @Test(arguments: [
        ("tor:\n  mod: own\n", "line 2: tor.mod: unknown key; did you mean mode?"),
        ("state_dirctory: /x\n", "line 1: state_dirctory: unknown key; did you mean state_directory?"),
        ("tor:\n  mode: own\nonoin:\n  peer_port: 1\n", "line 3: onoin: unknown key; did you mean onion?"),
        ("log:\n  file: /x\n", "line 2: log.file: unknown key; known are level, format"),
        (
            "management:\n  verbosity: 3\n",
            "line 2: management.verbosity: unknown key; known are listen, keep_rings"
        ),
        (
            "apps:\n  - name: a\n    gateway: apns\n    topik: t\n    topic: t\n",
            "line 4: apps[0].topik: unknown key; did you mean topic?"
        ),
        // A key of the other gateway.
        (
            "apps:\n  - name: a\n    gateway: fcm\n    key_file: t\n",
            "line 4: apps[0].key_file: unknown key; did you mean ca_file?"
        ),
    ])
    func anUnknownKeyIsNamedWithItsNearestNeighbour(yaml: String, expected: String) {
        #expect(faults(yaml) == [expected])
    }

    /// Sections are read in an order of their own, and unknown keys last.
    @Test func faultsComeInTheOrderOfTheirLines() {
        let found = faults(
            """
            onoin: {}
            peers:
              connections: 1.5
            tor:
              mode: both
              mod: own
            apps:
              - gateway: apns
                topik: t
            """, environment: ["ONIONBELL_LOG_LEVEL": "much"])
        let lines = found.compactMap { $0.firstMatch(of: #/^line (\d+):/#).flatMap { Int($0.output.1) } }
        #expect(lines.count >= 5 && lines == lines.sorted(), "\(found)")
        #expect(found.drop { $0.hasPrefix("line ") }.allSatisfy { !$0.hasPrefix("line ") }, "\(found)")
        #expect(found.last?.contains("ONIONBELL_LOG_LEVEL") == true, "\(found)")
    }

    @Test(arguments: [
        ("tor: own", "line 1: tor: must be a mapping of keys to values"),
        ("- tor", "line 1: must be a mapping of keys to values"),
        ("hello", "line 1: must be a mapping of keys to values"),
        ("tor:\n  mode: [own]", "line 2: tor.mode: must be a single value"),
        ("onion:\n  peer_port: {a: 1}", "line 2: onion.peer_port: must be a single value"),
        ("apps: bisq", "line 1: apps: must be a list"),
        ("apps:\n  - bisq", "line 2: apps[0]: must be a mapping of keys to values"),
        ("tor:\n  mode: both", "line 2: tor.mode: \"both\" is not allowed; one of own, instance, system"),
        (
            "onion:\n  peer_port: nine",
            "line 2: onion.peer_port: \"nine\" is not allowed; a whole number from 1 to 65535"
        ),
        (
            "peers:\n  connections: 1.5",
            "line 2: peers.connections: \"1.5\" is not allowed; a whole number from 1 to 1000000"
        ),
        (
            "peers:\n  idle_timeout: 4m",
            "line 2: peers.idle_timeout: \"4m\" is not allowed; whole seconds from 1 to 86400"
        ),
        (
            "limits:\n  token_rate: much",
            "line 2: limits.token_rate: \"much\" is not allowed; a number from 0.001 to 1000000.0"
        ),
        (
            "tor:\n  control: 9051",
            "line 2: tor.control: \"9051\" is not allowed; ADDRESS:PORT or unix:/PATH"
        ),
        (
            "log:\n  level: loud",
            "line 2: log.level: \"loud\" is not allowed; one of trace, debug, info, notice, warning, error, critical"
        ),
        (
            "onion:\n  network: bitcoin",
            "line 2: onion.network: \"bitcoin\" is not allowed; one of mainnet, testnet, regtest, dao-testnet, "
                + "dao-betanet, dao-regtest"
        ),
        ("state_directory: ''", "line 1: state_directory: must not be empty"),
        ("tor:\n  binary: \"\"", "line 2: tor.binary: must not be empty"),
    ])
    func aWrongValueIsNamedWithWhatIsAllowed(yaml: String, expected: String) {
        let found = faults(yaml)
        // A wrong app has more than one fault.
        #expect(found.first == expected)
        #expect(found.count == 1 || yaml.hasPrefix("apps"))
    }

    @Test func everyFaultIsToldAtOnceWithItsLine() {
        let yaml = """
            state_directory: /var/lib/onionbell

            # A comment with & and *.
            tor:
              mode: mine          # not one of them
              colour: blue
            onion:
              peer_port: 0
              http_ports: [80, 80]
            apps:
              - name: one
                gateway: apns
              - name: one
                gateway: pigeon
            defaults:
              android: ones
            limits:
              lifetime:
                59
            mangement:
              listen: 127.0.0.1:1
            """
        #expect(
            faults(yaml, environment: ["ONIONBELL_LOG_LEVEL": "loud", "ONIONBELL_TOR_MODUS": "own"]) == [
                "line 5: tor.mode: \"mine\" is not allowed; one of own, instance, system",
                """
                line 6: tor.colour: unknown key; known are mode, binary, torrc, control, cookie_file, password_file, \
                socks, heartbeat
                """,
                "line 8: onion.peer_port: \"0\" is not allowed; a whole number from 1 to 65535",
                "line 9: onion.http_ports: must be a list of ports, 1 to 65535, each once: [80, 8021]",
                "line 11: apps[0].topic: the app's bundle id is missing",
                "line 13: apps[1].name: one is used twice",
                "line 14: apps[1].gateway: \"pigeon\" is not allowed; each app needs a gateway: apns or fcm or relay or web_push or ntfy or mailbox",
                "line 16: defaults.android: no app has the name ones; did you mean one?",
                "line 19: limits.lifetime: \"59\" is not allowed; whole seconds from 60 to 2419200",
                "line 20: mangement: unknown key; did you mean management?",
                "ONIONBELL_LOG_LEVEL: \"loud\" is not allowed; one of trace, debug, info, notice, warning, error, "
                    + "critical",
                "ONIONBELL_TOR_MODUS: no such setting in the environment; did you mean ONIONBELL_TOR_MODE?",
            ])
    }

    @Test func aKeyThatIsThereTwiceIsAFault() {
        #expect(
            faults("log:\n  level: info\nlog:\n  level: debug\n") == ["line 3: log: is set more than once"])
    }

    @Test func theErrorSaysTheFileAndHowManyFaults() {
        let one = SettingsError(file: "a.yaml", faults: [SettingsFault(key: "k", line: 3, problem: "is bad")])
        #expect(one.description == "a.yaml: one error\n  line 3: k: is bad")
        let many = SettingsError(
            file: "a.yaml", faults: (0..<103).map { SettingsFault(key: "k\($0)", problem: "is bad") })
        #expect(many.description.hasPrefix("a.yaml: 103 errors\n  k0: is bad\n"))
        #expect(many.description.hasSuffix("\n  k99: is bad\n  and 3 more"))
    }

    @Test func aListOfPortsIsTaken() throws {
        #expect(try settings("onion:\n  http_ports: [1, 65535]").onion.httpPorts == [1, 65535])
        #expect(try settings("onion:\n  http_ports:\n    - 8080\n").onion.httpPorts == [8080])
        #expect(try settings("onion:\n  http_ports: []").onion.httpPorts == [])
        let fault = "line 2: onion.http_ports: must be a list of ports, 1 to 65535, each once: [80, 8021]"
        for list in ["80", "[0]", "[65536]", "[80, x]", "[[80]]", "[-1]", "[80, 80]", "[80.5]", "{80: 1}"] {
            #expect(faults("onion:\n  http_ports: \(list)") == [fault], "\(list)")
        }
        #expect(
            faults("onion:\n  peer_port: 80\n  http_ports: [80]")
                == ["line 3: onion.http_ports: 80 is already the peer_port"])
        // The default list, too.
        #expect(
            faults("onion:\n  peer_port: 8021") == ["line 2: onion.http_ports: 8021 is already the peer_port"]
        )
    }

    @Test func whatHasNoLoginListensOnThisMachineOnly() throws {
        for address in ["127.0.0.1:1", "[::1]:9400", "localhost:9400", "unix:/run/onionbell/management"] {
            #expect(faults("management:\n  listen: '\(address)'") == [], "\(address)")
            #expect(faults("onion:\n  peer_listen: '\(address)'") == [], "\(address)")
        }
        for address in ["0.0.0.0:9400", "[::]:9400", "192.0.2.1:9400", "example.org:9400"] {
            #expect(
                faults("management:\n  listen: '\(address)'") == [
                    "line 2: management.listen: must be a loopback address or a Unix socket, because it has no login"
                ], "\(address)")
            #expect(
                faults("onion:\n  peer_listen: '\(address)'") == [
                    "line 2: onion.peer_listen: must be a loopback address or a Unix socket: only tor connects to it"
                ], "\(address)")
        }
    }

    @Test func relativePathsBeginAtTheDirectoryOfTheFile() throws {
        let read = try settings(
            """
            state_directory: state
            tor:
              binary: tor
              cookie_file: /run/tor/control.authcookie
              password_file: ../password
            """)
        #expect(read.stateDirectory == "/etc/onionbell/state")
        #expect(read.tor.binary == "tor")
        #expect(read.tor.cookieFile == "/run/tor/control.authcookie")
        #expect(read.tor.passwordFile == "/etc/onionbell/../password")
        #expect(read.tor.torrc == "")
    }
}
