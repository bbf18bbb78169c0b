import Testing

@testable import Node

@Suite struct SettingsEnvironmentTests {
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
