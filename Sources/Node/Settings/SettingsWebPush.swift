import Doors

extension Settings {
    package struct WebPush: Sendable {
        package var door = Door()
        package var settings = WebPushSettings()
    }

    /// Reads `doors.web_push`.
    func webPush(_ section: SettingsReader.Section, _ names: [String]) -> WebPush {
        var webPush = WebPush(door: door(section))
        webPush.settings.relay.ios = app("ios", of: .ios, names, in: section)
        webPush.settings.relay.android = app("android", of: .android, names, in: section)
        webPush.settings.pushApp = app("push_ios", of: .ios, names, in: section)
        webPush.settings.outcomeDeadline = section.seconds(
            "outcome_deadline", default: webPush.settings.outcomeDeadline, in: 0...8)
        webPush.settings.givesIDs = section.flag("ids", default: webPush.settings.givesIDs)
        section.refuseUnknownKeys()
        return webPush
    }
}
