import Doors

extension Settings {
    /// The door for self-hosted Bitwarden servers.
    package struct Bitwarden: Sendable {
        package var place = Door(body: 131_072)
        package var door = BitwardenDoorSettings()
    }

    /// Reads `doors.bitwarden`.
    mutating func readBitwarden(_ doors: SettingsReader.Section) {
        let section = doors.section("bitwarden")
        bitwarden.place.listen = places(section)
        section.apps(&bitwarden.door.apps, isOn: bitwarden.place.isOn)
        section.flag("sandbox", &bitwarden.door.apps.isSandbox)
        section.integer("devices_per_installation", &bitwarden.door.devices, in: 1...10_000_000)
        read(limits: &bitwarden.place, of: section)
    }
}
