import Crypto
import Doors
import Reactor

extension GorushDoor: ConfiguredDoor {
    nonisolated static var listenKey: String { "doors.gorush.listen" }

    nonisolated static func places(in settings: Node.Settings) -> [DoorPlace] {
        settings.gorush.place.listen
    }

    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        let gorush = site.settings.gorush
        guard gorush.place.isOn else { return nil }
        var settings = gorush.door
        settings.secret = try secret(in: gorush.secretFile)
        let log = site.log
        if settings.secret == nil {
            log.warning(
                "endpoint.unprotected",
                metadata: [
                    "endpoint": "gorush", "addresses": "\(gorush.place.listen.map(\.description))",
                ])
        }
        let door = GorushDoor(settings: settings, dispatcher: site.dispatcher)
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: "gorush", gorush.place))
    }

    /// Returns the first line of a file; `nil`: none is set.
    private static func secret(in file: String) throws(NodeError) -> Secret? {
        guard !file.isEmpty else { return nil }
        do throws(SettingsFault) {
            let line = try readCredential(file, key: "doors.gorush.secret_file")
                .split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)[0]
            guard !line.isEmpty else {
                throw SettingsFault(
                    key: "doors.gorush.secret_file", problem: "\(file): the first line is empty")
            }
            return Secret(Array(line))
        } catch {
            throw .configuration("\(error)")
        }
    }
}
