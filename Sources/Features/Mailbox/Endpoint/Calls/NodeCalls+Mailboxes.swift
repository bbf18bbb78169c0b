import Calls
import Crypto
import Doors
import Encodings
import HTTP1
import JSONCoding
import Node
import Persistence
import Processes
import Reactor
import Relay

/// Mailboxes, and who publishes texts of the owner's own to them.
extension NodeCalls {
    nonisolated static let mailboxCalls: [Call] = [
        Call(
            CallText(
                "GET mailboxes", "listMailboxes", "The mailboxes.",
                answer: .json(
                    "All.",
                    [
                        "mailboxes": .list([
                            "name": .name, "show": NewMailbox.shows, "open": .flag, "readers": .list(.text),
                            "waiting": .number,
                        ])
                    ])),
            by: .store { files, _ throws(CallRefusal) in try files.mailboxes() }),
        Call(
            CallText(
                "POST mailboxes", "addMailbox", "Make a mailbox.",
                asks: [
                    "name": .name, "show?": NewMailbox.shows, "readers?": .list(.name, most: 1000),
                    "open?": .flag,
                    "tokens_of?": .name.said("A mailbox: its readers of the same names keep their tokens."),
                ],
                answer: .made(
                    "All that is shown once.",
                    [
                        "name": .text, "pairing_token": .text, "topic": .text, "url": .nullable(.text),
                        "readers": .list(["name": .text, "token": .nullable(.text)]),
                    ]), refuses: [.absent, .conflict, .unfit]),
            by: .store { files, asked throws(CallRefusal) in try files.addMailbox(asked.body) }),
        Call(
            CallText(
                "DELETE mailboxes/{name}", "removeMailbox", "Delete a mailbox with all that waits in it.",
                answer: .done("Deleted."), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in try files.removeMailbox(asked.segment) }),
        Call(
            CallText(
                "POST mailboxes/{name}/ring", "ringMailbox",
                "Put a test into a mailbox. Its phones ring when they fetch it.",
                answer: .json("What became of it.", ["outcome": .choice(["stored", "full"])]),
                refuses: [.absent, .unconfigured]),
            by: .node { calls, asked async throws(CallRefusal) in
                try await calls.ringMailbox(asked.segment)
            }),
        Call(
            CallText(
                "GET mailboxes/{name}/publishers", "listPublishers",
                "Who may put texts of the owner's own into a mailbox.",
                answer: .json("Their names.", ["names": .list(.name)]), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in try files.publishers(of: asked.segment) }),
        Call(
            CallText(
                "POST mailboxes/{name}/publishers", "addPublisher",
                "Make a publisher. Its token is shown once.", asks: ["name": .name],
                answer: .made("Its token.", ["name": .name, "token": .text]),
                refuses: [.absent, .conflict, .unfit]),
            by: .store { files, asked throws(CallRefusal) in
                try files.addPublisher(to: asked.segment, asked.body)
            }),
        Call(
            CallText(
                "DELETE mailboxes/{name}/publishers/{publisher}", "removePublisher",
                "Make a publisher's token invalid.", answer: .done("It is."), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in
                try files.removePublisher(asked.segments[1], from: asked.segment)
            }),
    ]
}

extension NodeCalls {
    private func ringMailbox(_ name: String) async throws(CallRefusal) -> HTTPResponse {
        guard let desk = open(MailboxDesk.self) else {
            throw CallRefusal(
                .unconfigured, "no_mailboxes",
                "the node has no mailboxes: there is no app with gateway: mailbox")
        }
        let result: MailboxPutResult?
        do throws(OutboxError) {
            result = try await desk.ring(name)
        } catch {
            throw CallRefusal(.unavailable, "store_failed", "the test was not stored: \(error)")
        }
        switch result {
        case .stored: return HTTPResponse(status: 200, json: ["outcome": "stored"])
        case .full: return HTTPResponse(status: 200, json: ["outcome": "full"])
        case .noSuchMailbox, nil: throw NodeFiles.noMailbox(name)
        }
    }
}

extension NodeFiles {
    fileprivate func mailboxes() throws(CallRefusal) -> HTTPResponse {
        try registrations { file in
            var waiting: [ByteText: Int64] = [:]
            if let view = file.views.first(where: { $0.kind == "mailbox" }) {
                try file.forEach(of: view) { row in
                    guard let name = row["id"], let messages = row["messages"].flatMap({ Int64($0) })
                    else { return }
                    waiting[ByteText(name)] = messages
                }
            }
            let all = try file.mailboxes().filter { !$0.isPush }
            let rows = all.map { mailbox -> JSON in
                [
                    "name": .string(mailbox.name), "show": .string(mailbox.show.rawValue),
                    "open": .bool(mailbox.isOpen),
                    "readers": .array(mailbox.readers.map { .string($0.name) }),
                    "waiting": .integer(waiting[ByteText(mailbox.name)] ?? 0),
                ]
            }
            return HTTPResponse(status: 200, json: ["mailboxes": .array(rows)])
        }
    }

    fileprivate func addMailbox(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let word = body.optionalText("show")
        let show = Mailbox.Show.allCases.first { word?.hasSameBytes(as: $0.rawValue) == true } ?? .bell
        try refuseEarly()
        var made = try NewMailbox(
            named: body.text("name"), show: show, readers: body.texts("readers"), isOpen: body.flag("open"),
            in: settings)
        let other = body.optionalText("tokens_of")
        try registrations(changing: true) { try made.add(to: $0, tokensOf: other, in: settings) }
        return HTTPResponse(status: 201, json: made.json)
    }

    /// Refuses to make a mailbox before a restart. A node that started before its settings named the app
    /// would tell senders that the address is no device's, and they would give it up.
    private func refuseEarly() throws(CallRefusal) {
        guard !settings.servesMailboxes, settingsAfterRestart?.servesMailboxes == true else { return }
        throw CallRefusal(
            .early, "restart_first",
            "no mailbox was made: the running node does not serve mailboxes yet. Restart it first, for example systemctl restart onionbell, then do this again"
        )
    }

    fileprivate func removeMailbox(_ name: String) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            guard let view = file.views.first(where: { $0.kind == "mailbox" }),
                try file.remove(name, of: view)
            else { throw NodeFiles.noMailbox(name) }
            return HTTPResponse(status: 204)
        }
    }

    fileprivate static func noMailbox(_ name: String) -> CallRefusal {
        CallRefusal(.absent, "unknown_mailbox", "there is no mailbox \(SettingsFault.shown(name))")
    }

    // MARK: Publishers

    fileprivate func publishers(of name: String) throws(CallRefusal) -> HTTPResponse {
        try registrations { file in
            guard let found = try file.mailboxes().first(where: { $0.name.hasSameBytes(as: name) }) else {
                throw NodeFiles.noMailbox(name)
            }
            return HTTPResponse(
                status: 200, json: ["names": .array(found.publishers.map { .string($0.name) })])
        }
    }

    fileprivate func addPublisher(to mailbox: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let name = try body.text("name")
        try PhoneBook.check(word: name)
        let token = MailboxDigests.newToken()
        let publisher = Mailbox.Publisher(name: name, token: try digests().token(token))
        return try registrations(changing: true) { file in
            switch try file.add(publisher, to: mailbox, addedAt: EventLoop.unixMilliseconds) {
            case .added: break
            case .noSuchMailbox: throw NodeFiles.noMailbox(mailbox)
            case .nameIsTaken:
                throw CallRefusal(.conflict, "name_taken", "the mailbox has a publisher of this name")
            case .tooMany:
                throw CallRefusal(
                    .conflict, "too_many", "the mailbox has \(Mailbox.mostPublishers) publishers, the most")
            case .isOpen:
                throw CallRefusal(
                    .conflict, "open_mailbox",
                    "\(SettingsFault.shown(mailbox)) is open: whoever has its ntfy address reads it, and a publisher has the address. Make a mailbox with a reader for this"
                )
            }
            return HTTPResponse(status: 201, json: ["name": .string(name), "token": .string(token)])
        }
    }

    fileprivate func removePublisher(
        _ name: String, from mailbox: String
    ) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            guard try file.removePublisher(name, from: mailbox) else {
                throw CallRefusal(.absent, "unknown_publisher", "there is no such publisher")
            }
            return HTTPResponse(status: 204)
        }
    }

    /// Returns the digests by which the store knows addresses and tokens of mailboxes.
    func digests() throws(CallRefusal) -> MailboxDigests {
        do throws(NodeError) {
            return MailboxDigests(key: try StateDirectory.digestKey(in: stateDirectory))
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(error)")
        }
    }
}

extension NewMailbox {
    fileprivate static let shows = CallShape.choice(Mailbox.Show.allCases.map(\.rawValue))

    fileprivate var json: JSON {
        var members: JSON.Object = [
            "name": .string(name), "pairing_token": .string(pairingToken.text), "topic": .string(topic),
            "readers": .array(
                readers.map {
                    ["name": .string($0.name), "token": $0.token.map { .string($0.text) } ?? .null]
                }),
        ]
        members["url"] = url.map { .string($0) } ?? .null
        return .object(members)
    }
}

extension RegistrationFile.Row {
    fileprivate subscript(field: String) -> String? { fields.firstIndex(of: field).map { values[$0] } }
}
