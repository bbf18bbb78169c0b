import Calls
import Dispatching
import Encodings
import HTTP1
import JSONCoding
import Node
import Overview
import Relay

/// The call about the last rings.
extension NodeCalls {
    nonisolated static let ringCalls: [Call] = [
        Call(
            CallText(
                "GET rings", "listRings",
                "What became of the last rings, without tokens and texts: \(Rings.most) at a time.",
                more:
                    "With management.keep_rings they are on disk. Without it the last \(Rings.most) are in memory: a restart in place keeps them, and after any other start the list begins anew.",
                asks: ["skip?": .number(from: 0).said("So many of the last ones are left out.")],
                answer: .json(
                    "The last first.",
                    [
                        "rings": .list(ringShape), "count": .number.said("Of all that the list has."),
                        "kept_seconds": .number.said("How long they are kept on disk; 0: in memory only."),
                        "last": .list([
                            "phone": .nullable(.number), "mailbox": .nullable(.text), "ring": ringShape,
                        ]).said("The last ring of each phone of the book, and of each mailbox."),
                        "refused": .list([
                            "at": .time.said("Of the last one."), "endpoint": .text, "reason": .text,
                            "help": .text, "count": .number,
                        ]).said("What was not taken, by endpoint and reason code."),
                    ])),
            by: .node { calls, asked in calls.rings(skipping: Int(clamping: asked.body.number("skip") ?? 0)) }
        )
    ]

    private nonisolated static let ringShape = CallShape.named(
        "Ring",
        [
            "at": .time.said("When its outcome was known."),
            "phone": .nullable(.number).said("The phone's number in the book; null: it is not in the book."),
            "name": .nullable(.name),
            "mailbox": .nullable(.text).said("The name of its mailbox; null: it has none, or is not known."),
            "device": .text.said("A short keyed digest of the device token."),
            "app": .text, "host": .text.said("production, sandbox, or the origin of a push server."),
            "endpoint": .nullable(.text).said(
                "Where it came in; null: before the last start, or at another node."),
            "outcome": .choice(["delivered", "kept", "placed", "dead", "refused", "expired"]).said(
                "kept: the mailbox has it, and its phone has not fetched it. placed: a test that was put into the mailbox; whether it is fetched is not followed."
            ),
            "reason?": .text, "help?": .text,
            "milliseconds": .number.said("From its coming to its outcome."),
        ])

    private func rings(skipping skipped: Int) -> HTTPResponse {
        let rings = node.store.dispatcher.rings
        let phones = node.store.dispatcher.phones
        let book = node.store.phoneBook.value
        let last = phones.compactMap { device, number in
            rings.last(of: device).map { (number: number, ring: $0) }
        }.sorted { $0.number < $1.number }
        func json(_ ring: Rings.Ring) -> JSON {
            let phone = phones[ring.device].flatMap { book.phone($0) }
            return self.json(ring, phone)
        }
        let lastOfMailboxes = rings.lastOfMailboxes.values.sorted { $0.mailbox ?? "" < $1.mailbox ?? "" }
        return HTTPResponse(
            status: 200,
            json: [
                "rings": .array(rings.page(skipping: skipped).map(json)),
                "count": .integer(Int64(rings.count)),
                "kept_seconds": .integer(node.settings.keptRings.components.seconds),
                "last": .array(
                    last.map { ["phone": .integer($0.number), "mailbox": .null, "ring": json($0.ring)] }
                        + lastOfMailboxes.map {
                            ["phone": .null, "mailbox": .string($0.mailbox ?? ""), "ring": json($0)]
                        }),
                "refused": .array(
                    rings.refused.map {
                        [
                            "at": .integer($0.at.milliseconds / 1000), "endpoint": .string($0.door),
                            "reason": .string($0.reason), "help": .string(RefusalHelp.text(of: $0.reason)),
                            "count": .integer(Int64($0.count)),
                        ]
                    }),
            ])
    }

    private func json(_ ring: Rings.Ring, _ phone: PhoneBook.Phone?) -> JSON {
        var members: JSON.Object = [
            "at": .integer(ring.at.milliseconds / 1000),
            "phone": phone.map { .integer($0.number) } ?? .null,
            "name": phone.map { .string($0.name) } ?? .null,
            "mailbox": ring.mailbox.map { .string($0) } ?? .null, "device": .string(ring.device.shortHex),
            "app": .string(ring.lane.app), "host": .string(ring.lane.host.name),
            "endpoint": ring.door.map { .string($0) } ?? .null,
            "outcome": .string(ring.outcome.rawValue), "milliseconds": .integer(ring.taken),
        ]
        if let reason = ring.reason {
            members["reason"] = .string(reason)
            members["help"] = .string(help(for: reason, ofApp: ring.lane.app))
        }
        return .object(members)
    }

    /// Returns the cause of a reason code of an app's push service, and what helps.
    private func help(for reason: String, ofApp name: String) -> String {
        let app = node.settings.apps.first { $0.name == name }
        return RefusalHelp.text(of: reason, advice: app.flatMap { type(of: $0.settings).advice(for: reason) })
    }
}
