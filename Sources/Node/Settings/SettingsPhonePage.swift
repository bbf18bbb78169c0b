import Doors
import Gateways

extension Settings {
    /// The phone's page.
    package struct PhonePage: Sendable {
        /// The places at which the node serves it; empty: it doesn't.
        package var place = Door(body: 0)
        /// The address at which phones find it, here or on any web server; empty: unknown.
        package var url = ""
    }

    /// The app for browsers.
    package var webPushApp: App? { apps.first { $0.service.name == WebPushApp.gateway } }

    /// Reads `doors.phone_page`.
    mutating func readPhonePage(_ doors: SettingsReader.Section) {
        let section = doors.section("phone_page")
        var page = PhonePage()
        page.place.listen = places(section)
        if page.place.listen.contains(where: \.isOnion) {
            section.fault(
                "listen", "onion: is not allowed here: browsers that reach onion addresses have no push")
        }
        section.text(
            "url", &page.url, expecting: "the page's address: https://HOST[:PORT]/PATH/, without ? and #"
        ) { $0.isEmpty || Settings.isPageURL($0) ? $0 : nil }
        if page.place.isOn, webPushApp == nil {
            section.fault(
                "listen", "the page needs an app with gateway: \(WebPushApp.gateway), which sends to it")
        }
        read(limits: &page.place, of: section, hasBodies: false)
        self.doors.phonePage = page
    }

    /// Whether a browser takes an address as secure; `http://localhost` is, for a try.
    package static func isPageURL(_ text: String) -> Bool {
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
}
