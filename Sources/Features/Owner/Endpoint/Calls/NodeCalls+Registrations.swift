import Calls
import Doors
import Encodings
import HTTP1
import JSONCoding
import Node
import Persistence

/// Whom the doors know: phones, servers and mailboxes, without device tokens and keys.
extension NodeCalls {
    nonisolated static let registrationCalls: [Call] = [
        Call(
            CallText(
                "GET registrations", "listKinds", "The kinds of registrations that this node stores.",
                answer: .json("Such as installation, phone and mailbox.", ["kinds": .list(.text)])),
            by: .store { files, _ throws(CallRefusal) in
                try files.registrations { file in
                    HTTPResponse(
                        status: 200, json: ["kinds": .array(file.views.map { .string($0.kind) })])
                }
            }),
        Call(
            CallText(
                "GET registrations/{kind}", "listRegistrations",
                "Whom the doors know, without device tokens and keys: at most 500 of one kind.",
                asks: ["after?": .text(256).said("An id: those behind it.")],
                answer: .json("Short ids first.", RegistrationFile.shape), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in try files.page(of: asked.segment, asked.body) }),
        Call(
            CallText(
                "GET registrations/{kind}/{id}", "getRegistration", "One registration.",
                answer: .json("A page of one row.", RegistrationFile.shape), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in
                try files.registrations { file in
                    guard let view = try file.view(asked.segment),
                        let row = try file.row(asked.segments[1], of: view)
                    else { throw NodeFiles.noRegistration(asked.segment) }
                    return HTTPResponse(status: 200, json: RegistrationFile.json([row], hasMore: false))
                }
            }),
        Call(
            CallText(
                "DELETE registrations/{kind}/{id}", "removeRegistration", "Forget a registration.",
                answer: .done("It is forgotten."), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in
                try files.registrations(changing: true) { file in
                    guard let view = try file.view(asked.segment),
                        try file.remove(asked.segments[1], of: view)
                    else { throw NodeFiles.noRegistration(asked.segment) }
                    return HTTPResponse(status: 204)
                }
            }),
    ]
}

extension NodeFiles {
    /// Rows of one answer: their values are fewer than ``JSONCoding/JSON/mostValues``.
    private static let mostRegistrations = 500

    fileprivate func page(of kind: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let last = body.optionalText("after") ?? ""
        return try registrations { file in
            let rows = try file.view(kind).map {
                try file.page(of: $0, after: last, count: NodeFiles.mostRegistrations)
            }
            let hasMore = rows?.count == NodeFiles.mostRegistrations
            return HTTPResponse(status: 200, json: RegistrationFile.json(rows ?? [], hasMore: hasMore))
        }
    }

    fileprivate static func noRegistration(_ kind: String) -> CallRefusal {
        CallRefusal(
            .absent, "unknown_registration",
            "no \(kind == "installation" ? kind : "\(kind) registration") has this id")
    }
}

extension RegistrationFile {
    fileprivate static let shape = CallShape.named(
        "Registrations",
        [
            "fields": .list(.text).said("What the values of a row are, the id first; empty without rows."),
            "rows": .list(.list(.text)), "more": .flag.said("There are more behind the last one."),
        ])

    /// Returns the view of a kind; `nil`: its table comes with the first registration.
    ///
    /// - Throws: There is no such kind.
    fileprivate borrowing func view(_ kind: String) throws -> RegistrationView? {
        guard kinds.registrations.contains(where: { kind.hasSameBytes(as: $0) }) else {
            throw CallRefusal(
                .absent, "unknown_kind",
                "unknown kind of registration; known are: \(kinds.registrations.joined(separator: ", "))")
        }
        return views.first { $0.kind == kind }
    }

    fileprivate static func json(_ rows: [Row], hasMore: Bool) -> JSON {
        [
            "fields": .array((rows.first?.fields ?? []).map { .string($0) }),
            "rows": .array(rows.map { .array($0.values.map { .string($0) }) }), "more": .bool(hasMore),
        ]
    }
}
