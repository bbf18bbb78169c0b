import Doors

extension Settings {
    package struct WebPush: Sendable {
        package var place = Door()
        package var settings = WebPushSettings()
    }

    /// Reads `doors.web_push`.
    mutating func readWebPush(_ doors: SettingsReader.Section) {
        let section = doors.section("web_push")
        var webPush = WebPush()
        webPush.place.listen = places(section)
        section.app("ios", &webPush.settings.relay.ios, of: .ios)
        section.app("android", &webPush.settings.relay.android, of: .android)
        section.app("push_ios", &webPush.settings.pushApp, of: .ios)
        section.seconds("outcome_deadline", &webPush.settings.outcomeDeadline, in: 0...8)
        section.flag("ids", &webPush.settings.givesIDs)
        read(limits: &webPush.place, of: section)
        self.doors.webPush = webPush
    }
}
