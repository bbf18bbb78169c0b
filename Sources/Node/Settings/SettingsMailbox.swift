import Doors
import Encodings
import Gateways

extension Settings {
    /// The mailboxes' door.
    package struct Mailbox: Sendable {
        /// The places at which phones fetch; empty: nowhere.
        package var listen: [DoorPlace] = []
        /// The address that phones get instead of the first of these places: `https://HOST[:PORT]`; empty: none.
        package var url = ""
        package var settings = MailboxDoorSettings()
    }

    /// Reads `doors.mailbox`.
    mutating func readMailbox(_ doors: SettingsReader.Section) {
        let section = doors.section("mailbox")
        var mailbox = Mailbox()
        mailbox.listen = places(section)
        section.text("url", &mailbox.url)
        if !mailbox.url.isEmpty, !Settings.isOrigin(mailbox.url) {
            section.fault(
                "url", "must be http:// or https://, a host and perhaps a port, and nothing behind it")
        }
        section.integer("readers", &mailbox.settings.readers, in: 1...1_000_000)
        section.integer("rate", &mailbox.settings.rate, in: 1...1_000_000)
        section.integer("messages", &mailbox.settings.bounds.messages, in: 1...100_000)
        if !mailbox.listen.isEmpty, !apps.contains(where: { $0.service.name == MailboxApp.gateway }) {
            section.fault("listen", "nothing comes to it without an app with gateway: \(MailboxApp.gateway)")
        }
        self.doors.mailbox = mailbox
    }

    /// Whether a text is `https://HOST[:PORT]` or `http://HOST[:PORT]`: ntfy's app takes no path.
    static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return false }
        let rest = text.dropFirst(scheme.count)
        return !rest.isEmpty
            && rest.consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, ".") | ASCII.equal($0, "-")
                    | ASCII.equal($0, ":")
            }
    }
}
