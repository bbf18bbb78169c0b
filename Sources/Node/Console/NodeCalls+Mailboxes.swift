import Doors
import Encodings
import HTTP1
import JSONCoding
import Persistence
import Reactor
import Registrations
import Relay

/// Mailboxes.
extension NodeCalls {
    static let mailboxCalls: [Call] = [
        Call("GET", "mailboxes") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.mailboxes()
        },
        Call("POST", "mailboxes") { calls, asked throws(CallRefusal) in try await calls.addMailbox(asked.body)
        },
        Call("DELETE", "mailboxes", "{}") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.removeMailbox(asked.segment)
        },
    ]

    private func mailboxes() async throws(CallRefusal) -> HTTPResponse {
        try await registrations { file in
            var waiting: [(name: String, messages: Int64)] = []
            if let view = file.views.first(where: { $0.kind == "mailbox" }) {
                try file.forEach(of: view) { row in
                    guard let name = row["id"], let messages = row["messages"].flatMap({ Int64($0) })
                    else { return }
                    waiting.append((name, messages))
                }
            }
            let all = try file.mailboxes().filter { !$0.isPush }
            let rows = all.map { mailbox -> JSON in
                [
                    "name": .string(mailbox.name), "show": .string(mailbox.show.rawValue),
                    "open": .bool(mailbox.isOpen),
                    "readers": .array(mailbox.readers.map { .string($0.name) }),
                    "waiting": .integer(waiting.first { $0.name == mailbox.name }?.messages ?? 0),
                ]
            }
            return HTTPResponse(status: 200, json: ["mailboxes": .array(rows)])
        }
    }

    private func addMailbox(_ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "name", "show", "readers", "open")
        let word = try body.optionalText("show", limit: 16) ?? Mailbox.Show.bell.rawValue
        guard let show = Mailbox.Show.allCases.first(where: { $0.rawValue == word }) else {
            throw CallRefusal(.malformed, "bad_request", "show must be bell or sealed")
        }
        let settings = node.settings
        let new = try NewMailbox(
            named: body.text("name", limit: 256), show: show, readers: body.texts("readers", limit: 256),
            isOpen: body.flag("open"), in: settings)
        let made = try await registrations(changing: true) { file in
            var made = new
            try made.add(to: file, tokensOf: nil, in: settings)
            return made
        }
        await node.mailboxes?.lookNow()
        return HTTPResponse(status: 201, json: made.json)
    }

    private func removeMailbox(_ name: String) async throws(CallRefusal) -> HTTPResponse {
        try await registrations(changing: true) { file in
            guard let view = file.views.first(where: { $0.kind == "mailbox" }),
                try file.remove(name, of: view)
            else { throw CallRefusal(.absent, "unknown_mailbox", "there is no mailbox of this name") }
        }
        await node.mailboxes?.lookNow()
        return HTTPResponse(status: 204)
    }
}

extension NewMailbox {
    fileprivate var json: JSON {
        var members: JSON.Object = [
            "name": .string(name), "pairing_token": .string(pairingToken), "topic": .string(topic),
            "readers": .array(
                readers.map {
                    ["name": .string($0.name), "token": $0.token.map { .string($0) } ?? .null]
                }),
        ]
        members["url"] = url.map { .string($0) } ?? .null
        return .object(members)
    }
}

extension RegistrationFile.Row {
    fileprivate subscript(field: String) -> String? { fields.firstIndex(of: field).map { values[$0] } }
}
