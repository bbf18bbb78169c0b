import Doors
import Testing

@testable import Node

@Suite struct SettingsBitwardenTests {
    /// For ``SettingsEnvironmentTests``.
    static let keys: [SettingsEnvironmentTests.Key] = [
        ("doors.bitwarden.sandbox", "true", "false", { "\($0.bitwarden.door.apps.isSandbox)" }),
        ("doors.bitwarden.devices_per_installation", "11", "12", { "\($0.bitwarden.door.devices)" }),
        ("doors.bitwarden.requests", "11", "12", { "\($0.bitwarden.place.limits.requests)" }),
        ("doors.bitwarden.rate", "11", "12", { "\($0.bitwarden.place.limits.rate)" }),
        ("doors.bitwarden.body_bytes", "1025", "1026", { "\($0.bitwarden.place.limits.body)" }),
    ]

    @Test func itIsOffUntilAPlaceIsNamedAndNeedsAnAppThen() throws {
        #expect(try !settings("").bitwarden.place.isOn)
        let read = try settings(
            """
            apps:
              - {name: one, gateway: apns, topic: im.one}
              - {name: two, gateway: fcm}
            doors:
              bitwarden: {listen: ["127.0.0.1:8081"], apps: [two, one]}
            """
        ).bitwarden
        #expect(read.place.isOn)
        #expect(read.door.apps.ios == [PushApps.Apple(name: "one", topic: "im.one")])
        #expect(read.door.apps.android == "two")
        #expect(throws: SettingsError.self) {
            try settings("doors:\n  bitwarden: {listen: [\"127.0.0.1:8081\"]}\n")
        }
    }
}
