import Encodings
import Gateways
import Logging
import Outbound
import Reactor
import Relay

/// Mailboxes under `apps`: nothing has to be set.
package struct MailboxApp: ConfiguredApp {
    package static let gateway = "mailbox"
    /// There is no mailbox of this address.
    package static let noSuchMailbox = Reason.noSuchMailbox
    /// The reason of a mailbox that is full because nobody fetches.
    package static let full = Reason.mailboxFull

    package init(_ section: any SettingsSection) {}

    package var service: any PushService { MailboxService() }
    package var hosts: [LaneHost] { [.production] }
    package var hasCredentials: Bool { true }
    package var secretFiles: [String] { [] }
    package var files: [String] { [] }

    package func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        OpenedApp([(.production, MailboxGateway())]) { _, _ throws(CredentialFault) in }
    }

    /// Returns no probes: the gateway is the node itself.
    package func probes(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> [GatewayProbe] { [] }

    package static func advice(for reason: String) -> String? {
        switch reason {
        case noSuchMailbox: "the mailbox was removed: make another one (onionbell mailbox add), and pair it"
        case full:
            "nobody fetches from the mailbox: start its reader. A mailbox that nobody reads any more is removed with all that lies in it: onionbell mailbox remove"
        case _: nil
        }
    }
}
