import Bitwarden
import Doors
import PushEndpoints
import Testing

@testable import Node

@Suite struct SettingsBitwardenTests {
    @Test func itIsOffUntilAPlaceIsNamedAndNeedsAnAppThen() throws {
        #expect(try !settings("").feature(BitwardenFeature.self)!.place.isOn)
        let read = try settings(
            """
            apps:
              - {name: one, gateway: apns, topic: im.one}
              - {name: two, gateway: fcm}
            doors:
              bitwarden: {listen: ["127.0.0.1:8081"], apps: [two, one]}
            """
        ).feature(BitwardenFeature.self)!
        #expect(read.place.isOn)
        #expect(read.door.apps.ios == [PushApps.Apple(name: "one", topic: "im.one")])
        #expect(read.door.apps.android == "two")
        #expect(throws: SettingsError.self) {
            try settings("doors:\n  bitwarden: {listen: [\"127.0.0.1:8081\"]}\n")
        }
    }
}
