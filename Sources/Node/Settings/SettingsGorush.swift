import Doors

extension Settings {
    /// The door that answers as gorush.
    package struct Gorush: Sendable {
        package var place = Door(body: 262_144)
        package var door = GorushDoorSettings()
        package var secretFile = ""
        package var isOpen = false
    }

    /// Reads `doors.gorush`.
    mutating func readGorush(_ doors: SettingsReader.Section) {
        let section = doors.section("gorush")
        gorush.place.listen = places(section)
        section.apps(&gorush.door.apps, isOn: gorush.place.isOn)
        section.flag("sandbox", &gorush.door.apps.isSandbox)
        section.credential("secret_file", &gorush.secretFile)
        section.flag("open", &gorush.isOpen)
        section.integer("notifications", &gorush.door.notifications, in: 1...10_000)
        section.flag("wait", &gorush.door.waits)
        section.seconds("outcome_deadline", &gorush.door.outcomeDeadline, in: 0...60)
        section.flag("broadcasts", &gorush.door.broadcasts)
        section.flag("hide_tokens", &gorush.door.hidesTokens)
        read(limits: &gorush.place, of: section)
        guard gorush.secretFile.isEmpty, !gorush.isOpen else { return }
        if let place = gorush.place.listen.first(where: { !$0.isLocal }) {
            section.fault(
                "secret_file",
                "is missing, so everybody could push at \(place): name a file, or set open to true")
        }
        // A web page reaches TCP ports of its reader's machine, and no Unix sockets.
        gorush.door.isLocal = gorush.place.listen.contains {
            if case .plain(.host) = $0 { true } else { false }
        }
    }
}
