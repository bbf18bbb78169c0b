import Doors
import HTTP1
import JSONCoding
import Pointing
import Reactor
import Tor

/// Who sends: the line for each Bisq, and the peers of a private node.
extension NodeCalls {
    static let peerCalls: [Call] = [
        Call("GET", "point") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.point()
        },
        Call("GET", "peers") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.peers()
        },
        Call("POST", "peers") { calls, asked throws(CallRefusal) in try await calls.invite(asked.body) },
        Call("DELETE", "peers") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.change { invitations throws(InvitationError) in
                if try invitations.load() != nil { try invitations.makePublic() }
            }
        },
        Call("DELETE", "peers", "{}") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.change { invitations throws(InvitationError) in
                try invitations.revoke(asked.segment)
            }
        },
    ]

    private func point() async throws(CallRefusal) -> HTTPResponse {
        guard let pointed = try await NodeCalls.pointed(node.settings) else { throw NodeCalls.noAddress }
        return HTTPResponse(
            status: 200,
            json: [
                "address": .string(pointed.address), "private": .bool(pointed.isPrivate),
                "clients": .array(
                    PointedClient.allCases.map { PointedSettings($0, at: pointed).json }),
            ])
    }

    private static let noAddress = CallRefusal(
        .unavailable, "no_address", "the node has no address yet: it makes one at its first start")

    @FileThread
    private static func pointed(_ settings: Settings) throws(CallRefusal) -> PointedNode? {
        try PointedNode.node(of: settings)
    }

    // MARK: Peers of a private node

    private var invitations: Invitations { Invitations(path: StateDirectory.peers(in: node.state.path)) }

    private func peers() async throws(CallRefusal) -> HTTPResponse {
        let keys = try await carryOut { invitations throws(InvitationError) in try invitations.load() }
        let names = (keys ?? [:]).keys.sorted()
        return HTTPResponse(
            status: 200,
            json: ["private": .bool(keys != nil), "clients": .array(names.map { .string($0) })])
    }

    private func invite(_ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "name")
        let name = try body.text("name", limit: 256)
        if let front = node.settings.front {
            throw CallRefusal(
                .unconfigured, "has_front", "onion.public_address: \(Settings.refusal(of: front))")
        }
        guard let pointed = try await NodeCalls.pointed(node.settings),
            let address = OnionAddress(pointed.address)
        else { throw NodeCalls.noAddress }
        let secret = try await carryOut { invitations throws(InvitationError) in
            try invitations.invite(name)
        }
        await node.invitationWatch?.lookNow()
        return HTTPResponse(
            status: 201,
            json: [
                "name": .string(name), "file": .string(secret.line(for: address)),
                "command": .string(secret.commandLine(for: address)),
            ])
    }

    private func change(
        _ body: @escaping @Sendable (Invitations) throws(InvitationError) -> Void
    ) async throws(CallRefusal) -> HTTPResponse {
        try await carryOut(body)
        await node.invitationWatch?.lookNow()
        return HTTPResponse(status: 204)
    }

    private func carryOut<Value: Sendable>(
        _ body: @escaping @Sendable (Invitations) throws(InvitationError) -> Value
    ) async throws(CallRefusal) -> Value {
        let invitations = invitations
        let result = await NodeCalls.onFiles { () -> Result<Value, InvitationError> in
            Result { () throws(InvitationError) in try body(invitations) }
        }
        do throws(InvitationError) {
            return try result.get()
        } catch {
            throw error.refusal
        }
    }

    @FileThread
    private static func onFiles<Value: Sendable>(_ body: @Sendable () -> Value) -> Value { body() }
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
