import Crypto
import Doors
import Node
import PushEndpoints
import Reactor

/// gorush's interface, as the settings want it: `doors.gorush`.
package struct GorushFeature: Feature {
    package static let name = "gorush"

    package var place = Settings.Door(body: 262_144)
    package var door = GorushDoorSettings()
    package var secretFile = ""
    package var isOpen = false

    package var listen: [DoorPlace] { place.listen }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        place.listen = settings.places(section)
        section.apps(&door.apps, isOn: place.isOn)
        section.flag("sandbox", &door.apps.isSandbox)
        section.credential("secret_file", &secretFile)
        section.flag("open", &isOpen)
        section.integer("notifications", &door.notifications, in: 1...10_000)
        section.flag("wait", &door.waits)
        section.seconds("outcome_deadline", &door.outcomeDeadline, in: 0...60)
        section.flag("broadcasts", &door.broadcasts)
        section.flag("hide_tokens", &door.hidesTokens)
        section.limits(of: &place)
        guard secretFile.isEmpty, !isOpen else { return }
        if let place = place.listen.first(where: { !$0.isLocal }) {
            section.fault(
                "secret_file",
                "is missing, so everybody could push at \(place): name a file, or set open to true")
        }
        // A web page reaches TCP ports of its reader's machine, and no Unix sockets.
        door.isLocal = place.listen.contains {
            if case .plain(.host) = $0 { true } else { false }
        }
    }

    package var openPlaces: [(sentence: String, advice: String)] {
        guard secretFile.isEmpty else { return [] }
        return place.listen.map { place in
            let who = place.isLocal ? "every program on this machine" : "everybody"
            return (
                "doors.gorush at \(place) has no secret: \(who) can push through it",
                "name a file with a secret in doors.gorush.secret_file"
            )
        }
    }

    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard place.isOn else { return nil }
        let log = site.log
        var settings = door
        settings.secret = try secret()
        if settings.secret == nil {
            log.warning(
                "endpoint.unprotected",
                metadata: [
                    "endpoint": "gorush", "addresses": "\(place.listen.map(\.description))",
                ])
        }
        let door = GorushDoor(settings: settings, dispatcher: site.dispatcher)
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: Self.name, place))
    }

    /// Returns the first line of the secret's file; `nil`: none is set.
    private func secret() throws(NodeError) -> Secret? {
        guard !secretFile.isEmpty else { return nil }
        do throws(SettingsFault) {
            let line = try readCredential(secretFile, key: "doors.gorush.secret_file")
                .split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)[0]
            guard !line.isEmpty else {
                throw SettingsFault(
                    key: "doors.gorush.secret_file", problem: "\(secretFile): the first line is empty")
            }
            return Secret(Array(line))
        } catch {
            throw .configuration("\(error)")
        }
    }
}
