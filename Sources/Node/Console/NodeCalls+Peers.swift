import Doors
import HTTP1
import JSONCoding
import Pointing
import Reactor
import Tor

/// The calls about who sends: the line for each Bisq, and the peers of a private node.
extension NodeCalls {
    nonisolated static let peerCalls: [Call] = [
        .files("GET", "point") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try files.point()
        },
        .files("GET", "peers") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            try files.refuseNobody()
            let keys = try files.invitations { invitations throws(InvitationError) in try invitations.load() }
            let names = (keys ?? [:]).keys.sorted()
            return HTTPResponse(
                status: 200,
                json: ["private": .bool(keys != nil), "clients": .array(names.map { .string($0) })])
        },
        .files("POST", "peers") { files, asked throws(CallRefusal) in try files.invite(asked.body) },
        .files("DELETE", "peers") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            try files.invitations { invitations throws(InvitationError) in
                if try invitations.load() != nil { try invitations.makePublic() }
            }
            return HTTPResponse(status: 204)
        },
        .files("DELETE", "peers", "{}") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            try files.invitations { invitations throws(InvitationError) in
                try invitations.revoke(asked.segment)
            }
            return HTTPResponse(status: 204)
        },
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
        try body.refuseOthers(but: "name")
        let name = try body.text("name", limit: 256)
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
