import Doors

extension Settings {
    /// The door for self-hosted Bitwarden servers.
    package struct Bitwarden: Sendable {
        package var place = Door(body: 131_072)
        package var door = BitwardenDoor.Settings()
    }

    mutating func read(bitwarden section: SettingsReader.Section, _ names: [String]) {
        bitwarden.place = door(section, default: bitwarden.place)
        bitwarden.door.apps = pushApps(section, names, isOn: bitwarden.place.isOn)
        bitwarden.door.devices = section.integer(
            "devices_per_installation", default: bitwarden.door.devices, in: 1...10_000_000)
        section.refuseUnknownKeys()
    }
}
