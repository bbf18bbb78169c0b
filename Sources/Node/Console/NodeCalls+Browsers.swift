import Doors
import HTTP1
import JSONCoding
import Tor

/// The calls about who may find the console's onion address. The login stays as it is.
extension NodeCalls {
    nonisolated static let browserCalls: [Call] = [
        .files("GET", "console-keys") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            try files.refuseNobody()
            let keys = try files.browsers { invitations throws(InvitationError) in try invitations.load() }
            let names = (keys ?? [:]).keys.sorted()
            return HTTPResponse(
                status: 200,
                json: ["private": .bool(keys != nil), "names": .array(names.map { .string($0) })])
        },
        .files("POST", "console-keys") { files, asked throws(CallRefusal) in
            try files.inviteBrowser(asked.body)
        },
        .files("DELETE", "console-keys") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            try files.refuseNobody()
            try files.browsers { invitations throws(InvitationError) in
                if try invitations.load() != nil { try invitations.makePublic() }
            }
            return HTTPResponse(status: 204)
        },
        .files("DELETE", "console-keys", "{}") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            try files.refuseNobody()
            try files.browsers { invitations throws(InvitationError) in
                try invitations.revoke(asked.segment)
            }
            return HTTPResponse(status: 204)
        },
    ]
}

extension NodeFiles {
    fileprivate func browsers<Value>(
        _ body: (Invitations) throws(InvitationError) -> Value
    ) throws(CallRefusal) -> Value {
        try invitations(at: StateDirectory.consoleClients(in: stateDirectory), body)
    }

    fileprivate func inviteBrowser(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "name")
        let name = try body.text("name", limit: 256)
        try refuseNobody()
        let address: OnionAddress
        do {
            address = try OnionKeyFile(path: StateDirectory.consoleOnionKey(in: stateDirectory))
                .loadOrCreate().address
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(error)")
        }
        let secret = try browsers { invitations throws(InvitationError) in try invitations.invite(name) }
        return HTTPResponse(
            status: 201,
            json: [
                "name": .string(name), "address": .string("\(address)"), "key": .string(secret.base32),
                "file": .string(secret.line(for: address)),
            ])
    }
}
