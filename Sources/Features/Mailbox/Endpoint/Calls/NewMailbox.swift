import Calls
import Client
import Crypto
import Doors
import Encodings
import Gateways
import Node
import Persistence
import Pointing
import Reactor
import Relay
import Wire

/// A mailbox that an owner makes, with all that is shown once: the store has digests of it.
struct NewMailbox: Sendable {
    struct Reader: Sendable {
        let name: String
        /// The new token; `nil`: the reader keeps the token that it has.
        fileprivate(set) var token: Secret?
    }

    let name: String
    let pairingToken: Secret
    /// The address at which phones fetch, with the topic; `nil`: it is not known where the mailbox is served.
    let url: String?
    let topic: String
    private(set) var readers: [Reader]
    private let show: Mailbox.Show
    private let isOpen: Bool
    private let address: String

    /// Makes a mailbox with new secrets.
    ///
    /// - Parameter readers: names, each once; empty: one reader with the name phone, unless the mailbox is
    ///   open.
    init(
        named name: String, show: Mailbox.Show, readers: [String], isOpen: Bool, in settings: Settings
    ) throws(CallRefusal) {
        guard settings.servesMailboxes else {
            throw CallRefusal(
                .unconfigured, "no_mailboxes",
                "there is no app with gateway: mailbox: add it, and doors.mailbox.listen, then restart the node"
            )
        }
        for name in [name] + readers { try PhoneBook.check(word: name) }
        for (index, reader) in readers.enumerated() where readers[..<index].contains(reader) {
            throw CallRefusal(.unfit, "bad_name", "each reader has a name of its own")
        }
        guard readers.count <= Mailbox.mostReaders else {
            throw CallRefusal(.unfit, "too_many", "a mailbox has at most \(Mailbox.mostReaders) readers")
        }
        address = MailboxAddress.text(randomBytes(MailboxAddress.randomBytes))
        topic = MailboxDigests.newTopic()
        do throws(PairingTokenError) {
            pairingToken = Secret(
                try Phone.new(.android, descriptor: "Onionbell", deviceToken: address).pairingToken.text)
        } catch {
            preconditionFailure("an address of a mailbox is a device token: \(error)")
        }
        url = try NewMailbox.origin(settings).map { [topic] in "\($0)/\(topic)" }
        self.readers = (readers.isEmpty && !isOpen ? ["phone"] : readers).map {
            Reader(name: $0, token: Secret(MailboxDigests.newToken()))
        }
        (self.name, self.show, self.isOpen) = (name, show, isOpen)
    }

    /// Adds the mailbox to the store.
    ///
    /// - Parameter other: a mailbox; readers who are also readers of that one keep the tokens that they have
    ///   there.
    mutating func add(
        to file: borrowing RegistrationFile, tokensOf other: String?, in settings: Settings
    ) throws {
        let digests = try NodeFiles(settings).digests()
        var known: [Mailbox.Reader] = []
        if let other {
            guard let found = try file.mailboxes().first(where: { $0.name.hasSameBytes(as: other) }) else {
                throw CallRefusal(
                    .absent, "unknown_mailbox", "there is no mailbox \(SettingsFault.shown(other))")
            }
            known = found.readers
        }
        var stored: [Mailbox.Reader] = []
        for index in readers.indices {
            let same = known.first { $0.name == readers[index].name }
            stored.append(
                Mailbox.Reader(
                    name: readers[index].name,
                    token: same?.token ?? digests.token(readers[index].token?.text ?? "")
                ))
            if same != nil { readers[index].token = nil }
        }
        let mailbox = Mailbox(
            name: name, show: show, isOpen: isOpen, topic: digests.topic(topic), readers: stored)
        guard
            try file.add(mailbox, address: digests.address(address), addedAt: EventLoop.unixMilliseconds)
        else {
            throw CallRefusal(
                .conflict, "mailbox_known", "there is a mailbox of this name, or there are \(Mailbox.most)")
        }
    }

    /// Returns the address of the first place at which phones find mailboxes.
    private static func origin(_ settings: Settings) throws(CallRefusal) -> String? {
        guard let mailbox = settings.feature(MailboxFeature.self) else { return nil }
        guard mailbox.url.isEmpty else { return mailbox.url }
        for place in mailbox.listen {
            switch place {
            case .onion(let port):
                guard let host = try PointedNode.node(of: settings)?.address else { continue }
                return port == 80 ? "http://\(host)" : "http://\(host):\(port)"
            case .plain(.host(let host, let port)): return "http://\(host):\(port)"
            case .https(.host(let host, let port)) where host != "0.0.0.0" && host != "::":
                return port == 443 ? "https://\(host)" : "https://\(host):\(port)"
            case .plain, .https: continue
            }
        }
        return nil
    }
}

extension Settings {
    var servesMailboxes: Bool { apps.contains { $0.service.name == MailboxApp.gateway } }
}

extension PhoneBook {
    /// Checks the name of a mailbox, a reader or a publisher, which other programs take too.
    static func check(word name: String) throws(CallRefusal) {
        guard isWord(name) else {
            throw CallRefusal(
                .unfit, "bad_name",
                "\(SettingsFault.shown(name)) is no name: 1 to 64 letters, digits, \".\", \"-\" and \"_\"")
        }
    }
}
