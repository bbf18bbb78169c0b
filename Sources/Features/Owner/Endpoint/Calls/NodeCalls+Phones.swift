import Calls
import Client
import Doors
import Encodings
import HTTP1
import JSONCoding
import Node
import Overview
import Persistence
import Reactor
import Relay
import Wire

/// The phone book. Its node takes over what is changed here: see ``NodeCalls/Call/kinds``.
extension NodeCalls {
    nonisolated static let phoneCalls: [Call] = bookCalls + nameCalls

    private nonisolated static let bookCalls: [Call] = [
        Call(
            CallText(
                "GET phones", "listPhones", "The phone book, without device tokens.",
                answer: .json(
                    "The book.",
                    [
                        "phones": .list(PhoneEntry.shape),
                        "aliases": .list(.phoneName).said("Names with one address for all their phones."),
                    ])),
            by: .store { files, _ throws(CallRefusal) in try files.phones() }),
        Call(
            CallText(
                "POST phones", "addPhone",
                "Add a phone by its pairing token, or by its device token. The key in a pairing token is not stored.",
                asks: NewPhone.shape,
                answer: .made(
                    "Added.",
                    [
                        "number": .number, "name": .phoneName, "platform": .text, "model": .text,
                        "app": .text,
                        "length": .number.said("Characters of the phone's own address."),
                        "address": .nullable(.text).said(
                            "An address that stands for the phone's, which is longer than Bisq 2 takes."),
                        "stand_in": .nullable(.text).said("The pairing token with that address."),
                    ]), refuses: [.conflict, .unfit]),
            by: .store { files, asked throws(CallRefusal) in try files.addPhone(asked.body) }),
        Call(
            CallText(
                "DELETE phones/{number}", "removePhone", "Remove a phone.", answer: .done("Removed."),
                refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in
                try files.removePhone(NodeCalls.number(asked.segment))
            }),
        Call(
            CallText(
                "POST phones/{number}/ring", "ringPhone",
                "Ring a phone, and wait up to a minute for its push service.",
                more:
                    "With the phone's pairing token the phone shows the test. Without it most apps show nothing, since nobody has the key.",
                asks: ["pairing_token?": .text(8192)],
                answer: .json("What became of it.", RungPhone.shape),
                refuses: [.absent, .unfit]),
            by: .node { calls, asked async throws(CallRefusal) in
                try await calls.ring(number: NodeCalls.number(asked.segment), asked.body)
            }),
        Call(
            CallText(
                "GET page", "getPage", "The link to the phone's page, with the node's key.",
                answer: .json(
                    "The link, which is no secret; null: the settings do not say where the page is.",
                    ["link": .nullable(.text)])),
            by: .files { files, _ throws(CallRefusal) in
                let link = try PhonePageLink.text(for: files.settings)
                return HTTPResponse(status: 200, json: ["link": link.map { .string($0) } ?? .null])
            }),
    ]

    private nonisolated static let nameCalls: [Call] = [
        Call(
            CallText(
                "POST names/{name}/ring", "ringName",
                "Ring all phones of a name, and wait up to a minute for their push services.",
                more:
                    "All are sealed with one key: that of a pairing token of one of them, or for phones of Bisq 2 a key of 32 bytes in Base64. Without it most apps show nothing.",
                asks: .either([["pairing_token?": .text(8192)], ["key": .text(256)]]),
                answer: .json(
                    "What became of it at each.",
                    [
                        "phones": .list([
                            "number": .number, "outcome": RungPhone.outcome, "reason?": .text,
                            "help?": RungPhone.help,
                        ]),
                        "owner": .nullable(.number).said("The phone whose pairing token it is."),
                    ]), refuses: [.absent, .unfit]),
            by: .node { calls, asked async throws(CallRefusal) in
                try await calls.ring(name: asked.segment, asked.body)
            }),
        Call(
            CallText(
                "PUT names/{name}", "rename", "Give the phones of a name another one.",
                asks: ["name": .phoneName],
                answer: .done("Renamed."), refuses: [.absent, .conflict, .unfit]),
            by: .store { files, asked throws(CallRefusal) in try files.rename(asked.segment, asked.body) }),
        Call(
            CallText(
                "DELETE names/{name}", "removeName", "Remove a name with all its phones.",
                answer: .json("Removed: how many phones.", ["count": .number]), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in try files.removeName(asked.segment) }),
        Call(
            CallText(
                "PUT names/{name}/address", "giveAddress", "Give all phones of a name one address.",
                asks: ["pairing_token?": .text(8192), "new?": .flag],
                answer: .json(
                    "The address, or the pairing token for Bisq with it. The name keeps the one that it has, unless new is true.",
                    .either([["address": .text], ["pairing_token": .text]])),
                refuses: [.absent, .conflict, .unfit]),
            by: .store { files, asked throws(CallRefusal) in
                try files.giveAddress(asked.segment, asked.body)
            }),
        Call(
            CallText(
                "DELETE names/{name}/address", "removeAddress", "Make the address of a name invalid.",
                answer: .done("It has none any more."), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in try files.removeAddress(asked.segment) }),
    ]

    private nonisolated static func number(_ text: String) throws(CallRefusal) -> Int64 {
        guard let number = Int64(text), number > 0 else { throw noSuchPhone }
        return number
    }

    nonisolated static let noSuchPhone = CallRefusal(
        .absent, "unknown_phone", "no phone has this number")

    // MARK: Ringing

    /// Rings the phone of a number. With its pairing token it can show the test. The node forgets the token.
    private func ring(number: Int64, _ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        let key = try TestKey(body)
        let book = try await book { $0.phone(number) != nil }
        guard let phone = book.phone(number) else { throw NodeCalls.noSuchPhone }
        if let token = key.token, !token.isOf(phone, in: book, node.settings) {
            throw CallRefusal(.unfit, "foreign_token", "the pairing token is another phone's")
        }
        return HTTPResponse(status: 200, json: .object(try await ring([phone], with: key)[0].members))
    }

    /// Rings all phones of a name, which have one key mostly.
    private func ring(name: String, _ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        let key = try TestKey(body)
        let book = try await book { !$0.phones(of: name).isEmpty }
        let phones = book.phones(of: name)
        guard !phones.isEmpty else { throw PhoneBook.Refusal.unknownName.refusal }
        let owner = try key.token.flatMap { token throws(CallRefusal) in
            try token.owner(of: phones, in: book, node.settings)
        }
        let rung = try await ring(phones, with: key).map { rung -> JSON in
            .object(rung.members.merging(["number": .integer(rung.number)]))
        }
        return HTTPResponse(
            status: 200, json: ["phones": .array(rung), "owner": owner.map { .integer($0) } ?? .null])
    }

    /// Returns the phone book. The node looks into it every second; a phone that was added just now is known
    /// at once.
    private func book(_ isEnough: (PhoneBook) -> Bool) async throws(CallRefusal) -> PhoneBook {
        let watch = node.store.phoneBook
        if !isEnough(watch.value) { await watch.lookNow() }
        return watch.value
    }

    /// Returns what helps against the reason for which a phone has not rung.
    private func help(for reason: String, of phone: PhoneBook.Phone) -> String {
        let apps = node.settings.apps.filter {
            $0.service.serves(phone.platform) && (phone.app.isEmpty || $0.name == phone.app)
        }
        return RefusalHelp.text(
            of: reason, advice: apps.lazy.compactMap { type(of: $0.settings).advice(for: reason) }.first)
    }

    /// Rings phones side by side, each for a minute at most.
    private func ring(
        _ phones: [PhoneBook.Phone], with key: TestKey
    ) async throws(CallRefusal) -> [RungPhone] {
        let test = node.phoneTest
        var messages: [(phone: PhoneBook.Phone, text: String)] = []
        for phone in phones { messages.append((phone, try key.seal.seal(for: phone))) }
        let count = messages.count
        return await withCheckedContinuation { waiting in
            var rung: [RungPhone] = []
            for (phone, text) in messages {
                test.ring(phone, message: text) {
                    let help = $0.reason.map { self.help(for: $0, of: phone) }
                    rung.append(RungPhone(number: phone.number, end: $0, help: help))
                    guard rung.count == count else { return }
                    waiting.resume(returning: rung.sorted { $0.number < $1.number })
                }
            }
        }
    }
}

/// The outcome of the test at one phone.
private struct RungPhone: Sendable {
    /// The words of ``PhoneTest/End/outcome``.
    static let outcome = CallShape.choice([
        "delivered", "stored", "busy", "held", "dead", "expired", "refused",
    ])
    static let help = CallShape.text.said("What helps against the reason.")
    static let shape: CallShape = ["outcome": outcome, "reason?": .text, "help?": help]

    let number: Int64
    let end: PhoneTest.End
    /// The advice against the reason.
    let help: String?

    var members: JSON.Object {
        var members: JSON.Object = ["outcome": .string(end.outcome)]
        members["reason"] = end.reason.map { .string($0) }
        members["help"] = help.map { .string($0) }
        return members
    }
}

/// The key that a test is sealed with.
private struct TestKey {
    let seal: TestSeal
    let token: PairingToken?

    init(_ body: CallBody) throws(CallRefusal) {
        token = try body.optionalText("pairing_token").map { text throws(CallRefusal) in
            try PairingToken(entered: text)
        }
        let key = body.optionalText("key")
        guard token == nil || key == nil else {
            throw CallRefusal(.malformed, "bad_request", "give pairing_token or key, not both")
        }
        if let token {
            seal = .bisq1(key: token.key)
        } else if let key {
            guard let bytes = Base64.decode(key), bytes.count == ConnectPhone.keyLength else {
                throw CallRefusal(
                    .unfit, "bad_key", "the key must be \(ConnectPhone.keyLength) bytes in Base64")
            }
            seal = .bisq2(key: bytes)
        } else {
            seal = .nobody
        }
    }
}

extension PairingToken {
    /// Finds whose the pairing token is: another phone's key would ring a phone with a text that it can't
    /// open, and the push service takes that as well.
    ///
    /// - Returns: The phone's number; `nil`: the token has the address of all of them.
    fileprivate func owner(
        of phones: [PhoneBook.Phone], in book: PhoneBook, _ settings: Settings
    ) throws(CallRefusal) -> Int64? {
        if let name = phones.first?.name, book.alias(of: name) == DeviceToken(deviceToken) { return nil }
        guard let owner = phones.first(where: { isOf($0, in: book, settings) }) else {
            throw CallRefusal(
                .unfit, "foreign_token",
                "the pairing token is another phone's: no phone of this name has its device token, so none was rung. Give the token of one of them, or add this phone"
            )
        }
        return owner.number
    }

    /// Whether the pairing token is the phone's, in whatever spelling, or that of all phones of its name.
    fileprivate func isOf(_ phone: PhoneBook.Phone, in book: PhoneBook, _ settings: Settings) -> Bool {
        let given = DeviceToken(deviceToken)
        if given == phone.deviceToken || given == book.alias(of: phone.name) { return true }
        let entry = try? PhoneEntry(of: self, named: phone.name, in: settings)
        return entry?.phone.deviceToken == phone.deviceToken
    }
}
