import Doors

extension Settings {
    /// The door that answers as gorush.
    package struct Gorush: Sendable {
        package var place = Door(body: 262_144)
        package var door = GorushDoor.Settings()
        /// A file with what senders must show; empty: nothing.
        package var secretFile = ""
        /// Whether everybody may push who can reach the endpoint, wherever it is.
        package var isOpen = false
    }

    mutating func read(gorush section: SettingsReader.Section, _ names: [String]) {
        gorush.place = door(section, default: gorush.place)
        let defaults = gorush.door
        gorush.door.apps = pushApps(section, names, isOn: gorush.place.isOn)
        gorush.door.notifications = section.integer(
            "notifications", default: defaults.notifications, in: 1...10_000)
        gorush.door.waits = section.flag("wait", default: defaults.waits)
        gorush.door.outcomeDeadline = section.seconds(
            "outcome_deadline", default: defaults.outcomeDeadline, in: 0...60)
        gorush.door.broadcasts = section.flag("broadcasts", default: defaults.broadcasts)
        gorush.door.hidesTokens = section.flag("hide_tokens", default: defaults.hidesTokens)
        gorush.secretFile = section.path("secret_file")
        gorush.isOpen = section.flag("open", default: false)
        guard gorush.secretFile.isEmpty, !gorush.isOpen else {
            return section.refuseUnknownKeys()
        }
        if let place = gorush.place.listen.first(where: { !$0.isLocal }) {
            section.fault(
                "secret_file",
                "is missing, so everybody could push at \(place): name a file, or set open to true")
        }
        // A web page reaches TCP ports of its reader's machine, and no Unix sockets.
        gorush.door.isLocal = gorush.place.listen.contains {
            if case .plain(.host) = $0 { true } else { false }
        }
        section.refuseUnknownKeys()
    }
}
