import Calls
import Doors
import HTTP1
import JSONCoding
import Node
import Pointing
import Reactor
import Tor

/// The calls about who sends: the line for each Bisq, and the peers of a private node.
extension NodeCalls {
    nonisolated static let peerCalls: [Call] = [
        Call(
            CallText(
                "GET point", "getPoint", "What each Bisq program needs to send to this node.",
                answer: .json(
                    "For each program.",
                    [
                        "address": .text, "private": .flag, "bisq2_port": .number,
                        "clients": .list(PointedSettings.shape),
                    ])),
            by: .files { files, _ throws(CallRefusal) in try files.point() }),
        Call(
            CallText(
                "GET peers", "listPeers", "Who may connect.",
                answer: .json(
                    "Of a node that is not private: nobody is named, and everybody may.",
                    ["private": .flag, "clients": .list(.peerName)])),
            by: .files { files, _ throws(CallRefusal) in
                try files.refuseNobody()
                let keys = try files.invitations { invitations throws(InvitationError) in
                    try invitations.load()
                }
                let names = (keys ?? [:]).keys.sorted()
                return HTTPResponse(
                    status: 200,
                    json: ["private": .bool(keys != nil), "clients": .array(names.map { .string($0) })])
            }),
        Call(
            CallText(
                "POST peers", "invite",
                "Let a peer in. With the first one the node becomes private, and all open connections end.",
                asks: ["name": .peerName],
                answer: .made(
                    "What the peer's tor needs; not shown again.",
                    [
                        "name": .text,
                        "file": .text.said("The line of a file .auth_private in ClientOnionAuthDir."),
                        "command": .text.said("For the control port of the peer's tor."),
                    ]), refuses: [.conflict, .unfit]),
            by: .files { files, asked throws(CallRefusal) in try files.invite(asked.body) }),
        Call(
            CallText(
                "DELETE peers", "letEverybodyIn", "Revoke all invitations and make the node public.",
                answer: .done("The node is public.")),
            by: .files { files, _ throws(CallRefusal) in
                try files.invitations { invitations throws(InvitationError) in
                    if try invitations.load() != nil { try invitations.makePublic() }
                }
                return HTTPResponse(status: 204)
            }),
        Call(
            CallText(
                "DELETE peers/{peer}", "revoke", "Revoke a peer's invitation.", answer: .done("Revoked."),
                refuses: [.absent, .unfit]),
            by: .files { files, asked throws(CallRefusal) in
                try files.invitations { invitations throws(InvitationError) in
                    try invitations.revoke(asked.segment)
                }
                return HTTPResponse(status: 204)
            }),
    ]
}

extension NodeFiles {
    fileprivate func point() throws(CallRefusal) -> HTTPResponse {
        guard let pointed = try PointedNode.node(of: settings) else {
            throw CallRefusal(
                .unavailable, "no_address", "the node has no address yet: it makes one at its first start")
        }
        return HTTPResponse(
            status: 200,
            json: [
                "address": .string(pointed.address), "private": .bool(pointed.isPrivate),
                "bisq2_port": .integer(Int64(pointed.bisq2Port)),
                "clients": .array(
                    PointedClient.allCases.map { PointedSettings($0, at: pointed).json }),
            ])
    }

    fileprivate func invite(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let name = try body.text("name")
        if let front = settings.front {
            throw CallRefusal(
                .unconfigured, "has_front", "onion.public_address: \(Settings.refusal(of: front))")
        }
        try refuseNobody()
        let address: OnionAddress
        do {
            // Before its first start, too, a node can be private.
            address = try OnionKeyFile(path: StateDirectory.onionKey(in: stateDirectory)).loadOrCreate()
                .address
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(error)")
        }
        let secret = try invitations { invitations throws(InvitationError) in try invitations.invite(name) }
        return HTTPResponse(
            status: 201,
            json: [
                "name": .string(name), "file": .string(secret.line(for: address)),
                "command": .string(secret.commandLine(for: address)),
            ])
    }

    /// Runs work on invitations, and turns their faults into refusals.
    ///
    /// - Parameter path: the directory of the invitations; `nil`: who may find the peers' address.
    func invitations<Value>(
        at path: String? = nil,
        _ body: (Invitations) throws(InvitationError) -> Value
    ) throws(CallRefusal) -> Value {
        do throws(InvitationError) {
            return try body(Invitations(path: path ?? StateDirectory.peers(in: stateDirectory)))
        } catch {
            throw error.refusal
        }
    }
}

extension InvitationError {
    fileprivate var refusal: CallRefusal {
        switch self {
        case .unfitName: CallRefusal(.unfit, "bad_name", "\(self)")
        case .invitedAlready: CallRefusal(.conflict, "name_taken", "\(self)")
        case .notInvited: CallRefusal(.absent, "unknown_name", "\(self)")
        case .tooMany: CallRefusal(.conflict, "too_many", "\(self)")
        case .system: CallRefusal(.unavailable, "unreadable", "\(self)")
        }
    }
}

extension PointedSettings {
    fileprivate static let shape: CallShape = [
        "client": .choice(PointedClient.allCases.map(\.rawValue)), "name": .text, "file": .text,
        "lines": .list(.text), "advice": .text,
    ]

    fileprivate var json: JSON {
        let lines: [String] =
            switch client {
            case .bisq1, .haveno: ["torrcOptions=\(mapAddress)"]
            case .bisq2: bisq2Lines
            case .bisq2Docker: ["JAVA_OPTS=\(javaOptions.joined(separator: " "))"]
            }
        return [
            "client": .string(client.rawValue), "name": .string(client.name),
            "file": .string(client.fileName), "lines": .array(lines.map { .string($0) }),
            "advice": .string(advice),
        ]
    }
}
