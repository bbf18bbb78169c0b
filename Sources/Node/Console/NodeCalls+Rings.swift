import Dispatching
import Encodings
import HTTP1
import JSONCoding
import Overview
import Relay

/// The call about the last rings.
extension NodeCalls {
    nonisolated static let ringCalls: [Call] = [
        Call(
            CallText(
                "GET rings", "listRings",
                "What became of the last \(Rings.most) rings, without tokens and texts.",
                more:
                    "They are in memory only. A restart in place keeps them; after any other start the list begins anew.",
                answer: .json(
                    "The last first.",
                    [
                        "rings": .list(ringShape),
                        "last": .list(["phone": .number, "ring": ringShape]).said(
                            "The last ring of each phone of the book."),
                        "refused": .list([
                            "at": .time.said("Of the last one."), "endpoint": .text, "reason": .text,
                            "help": .text, "count": .number,
                        ]).said("What was not taken, by endpoint and reason code."),
                    ])),
            by: .node { calls, _ in calls.rings() })
    ]

    private nonisolated static let ringShape = CallShape.named(
        "Ring",
        [
            "at": .time.said("When its outcome was known."),
            "phone": .nullable(.number).said("The phone's number in the book; null: it is not in the book."),
            "name": .nullable(.name), "device": .text.said("A short keyed digest of the device token."),
            "app": .text, "host": .text.said("production, sandbox, or the origin of a push server."),
            "endpoint": .nullable(.text).said(
                "Where it came in; null: before the last start, or at another node."),
            "outcome": .choice(["delivered", "kept", "dead", "refused", "expired"]).said(
                "kept: the mailbox has it, and its phone has not fetched it."),
            "reason?": .text, "help?": .text,
            "milliseconds": .number.said("From its coming to its outcome."),
        ])

    private func rings() -> HTTPResponse {
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
        return HTTPResponse(
            status: 200,
            json: [
                "rings": .array(rings.all.map(json)),
                "last": .array(
                    last.map { ["phone": .integer($0.number), "ring": json($0.ring)] }),
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
            "name": phone.map { .string($0.name) } ?? .null, "device": .string(ring.device.shortHex),
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
