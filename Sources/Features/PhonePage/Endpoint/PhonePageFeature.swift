import Doors
import Encodings
import Gateways
import Node
import Reactor

/// The phone's page, as the settings want it: `doors.phone_page`.
package struct PhonePageFeature: Feature {
    package static let name = "phone_page"

    /// The places at which the node serves it; empty: it doesn't.
    package var place = Settings.Door(body: 0)
    /// The address at which phones find it, here or on any web server; empty: unknown.
    package var url = ""

    package var listen: [DoorPlace] { place.listen }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        place.listen = settings.places(section)
        if place.listen.contains(where: \.isOnion) {
            section.fault(
                "listen", "onion: is not allowed here: browsers that reach onion addresses have no push")
        }
        section.text(
            "url", &url, expecting: "the page's address: https://HOST[:PORT]/PATH/, without ? and #"
        ) { $0.isEmpty || Self.isURL($0) ? $0 : nil }
        if place.isOn, settings.webPushApp == nil {
            section.fault(
                "listen", "the page needs an app with gateway: \(WebPushApp.gateway), which sends to it")
        }
        section.limits(of: &place, hasBodies: false)
    }

    /// Whether a browser takes an address as secure; `http://localhost` is, for a try.
    package static func isURL(_ text: String) -> Bool {
        guard text.utf8.count <= 500, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            !text.contains(where: { "?#\"<>\\@".contains($0) })
        else { return false }
        let rest: Substring
        if text.hasPrefix("https://") {
            rest = text.dropFirst(8)
        } else if text.hasPrefix("http://localhost/") || text.hasPrefix("http://localhost:") {
            rest = text.dropFirst(7)
        } else {
            return false
        }
        guard let slash = rest.firstIndex(of: "/") else { return false }
        return slash > rest.startIndex
    }

    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard place.isOn else { return nil }
        let key = try state.vapidKey().publicText
        do throws(PhonePageFiles.Fault) {
            let door = PhonePageDoor(try PhonePageFiles.page(for: key))
            return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: Self.name, place))
        } catch {
            throw .unavailable("doors.phone_page: \(error)")
        }
    }
}
