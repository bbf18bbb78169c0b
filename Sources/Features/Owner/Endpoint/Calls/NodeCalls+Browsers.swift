import Calls
import Doors
import HTTP1
import JSONCoding
import Node
import Tor

/// The calls about who may find the console's onion address. The login stays as it is.
extension NodeCalls {
    nonisolated static let browserCalls: [Call] = [
        Call(
            CallText(
                "GET console-keys", "listConsoleKeys", "Who may find the console's onion address.",
                answer: .json(
                    "Of an address that is not private: nobody is named, and everybody may.",
                    [
                        "private": .flag, "names": .list(.peerName),
                        "address": .nullable(.text).said("null: the console has no onion address."),
                        "listen": .list(.text).said("The places of the console in the settings."),
                    ])),
            by: .files { files, _ throws(CallRefusal) in
                try files.refuseNobody()
                let keys = try files.browsers { invitations throws(InvitationError) in try invitations.load()
                }
                let names = (keys ?? [:]).keys.sorted()
                return HTTPResponse(
                    status: 200,
                    json: [
                        "private": .bool(keys != nil), "names": .array(names.map { .string($0) }),
                        "address": files.consoleAddress.map { .string($0) } ?? .null,
                        "listen": .array(files.settings.console.listen.map { .string($0.description) }),
                    ])
            }),
        Call(
            CallText(
                "POST console-keys", "addConsoleKey",
                "Make a key for the console's onion address. With the first one nobody finds it without a key, and all open connections end.",
                asks: ["name": .peerName],
                answer: .made(
                    "What Tor Browser, or another tor, needs; not shown again.",
                    [
                        "name": .text, "address": .text, "key": .text.said("Tor Browser asks for it."),
                        "file": .text.said("The line of a file .auth_private in ClientOnionAuthDir."),
                    ]), refuses: [.conflict, .unfit]),
            by: .files { files, asked throws(CallRefusal) in try files.inviteBrowser(asked.body) }),
        Call(
            CallText(
                "DELETE console-keys", "removeConsoleKeys",
                "Revoke all keys: whoever knows the address reaches the login.",
                answer: .done("Everybody may.")),
            by: .files { files, _ throws(CallRefusal) in
                try files.refuseNobody()
                try files.browsers { invitations throws(InvitationError) in
                    if try invitations.load() != nil { try invitations.makePublic() }
                }
                return HTTPResponse(status: 204)
            }),
        Call(
            CallText(
                "DELETE console-keys/{peer}", "removeConsoleKey",
                "Revoke a key for the console's onion address.", answer: .done("Revoked."),
                refuses: [.absent, .unfit]),
            by: .files { files, asked throws(CallRefusal) in
                try files.refuseNobody()
                try files.browsers { invitations throws(InvitationError) in
                    try invitations.revoke(asked.segment)
                }
                return HTTPResponse(status: 204)
            }),
    ]
}

extension NodeFiles {
    /// The console's own onion address; `nil`: it has none.
    fileprivate var consoleAddress: String? {
        guard settings.console.listen.contains(.onion) else { return nil }
        let file = OnionKeyFile(path: StateDirectory.consoleOnionKey(in: stateDirectory))
        return (try? file.load()).flatMap { $0 }.map { "\($0.address)" }
    }

    fileprivate func browsers<Value>(
        _ body: (Invitations) throws(InvitationError) -> Value
    ) throws(CallRefusal) -> Value {
        try invitations(at: StateDirectory.consoleClients(in: stateDirectory), body)
    }

    fileprivate func inviteBrowser(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let name = try body.text("name")
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
