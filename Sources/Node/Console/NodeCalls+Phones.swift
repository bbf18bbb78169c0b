import Client
import Doors
import Encodings
import HTTP1
import JSONCoding
import Overview
import Persistence
import Reactor
import Relay
import Wire

/// The phone book. Its node takes over what is changed here: see ``NodeCalls/Call/kinds``.
extension NodeCalls {
    nonisolated static let phoneCalls: [Call] = [
        .store("GET", "phones") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try files.phones()
        },
        .store("POST", "phones") { files, asked throws(CallRefusal) in try files.addPhone(asked.body) },
        .store("DELETE", "phones", "{}") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try files.removePhone(NodeCalls.number(asked.segment))
        },
        Call("POST", "phones", "{}", "ring") { calls, asked throws(CallRefusal) in
            try await calls.ring(number: NodeCalls.number(asked.segment), asked.body)
        },
        Call("POST", "names", "{}", "ring") { calls, asked throws(CallRefusal) in
            try await calls.ring(name: asked.segment, asked.body)
        },
        .store("PUT", "names", "{}") { files, asked throws(CallRefusal) in
            try files.rename(asked.segment, asked.body)
        },
        .store("DELETE", "names", "{}") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try files.removeName(asked.segment)
        },
        .store("PUT", "names", "{}", "address") { files, asked throws(CallRefusal) in
            try files.giveAddress(asked.segment, asked.body)
        },
        .store("DELETE", "names", "{}", "address") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try files.removeAddress(asked.segment)
        },
        .files("GET", "page") { files, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            let link = try PhonePageLink.text(for: files.settings)
            return HTTPResponse(status: 200, json: ["link": link.map { .string($0) } ?? .null])
        },
    ]

    private nonisolated static func number(_ text: String) throws(CallRefusal) -> Int64 {
        guard let number = Int64(text), number > 0 else { throw noSuchPhone }
        return number
    }

    fileprivate nonisolated static let noSuchPhone = CallRefusal(
        .absent, "unknown_phone", "no phone has this number")

    // MARK: Ringing

    /// Rings the phone of a number. With its pairing token it can show the test. The node forgets the token.
    private func ring(number: Int64, _ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "pairing_token")
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
        try body.refuseOthers(but: "pairing_token", "key")
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
        let key = try body.optionalText("key", limit: 256)
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

// MARK: The book

extension NodeFiles {
    fileprivate func phones() throws(CallRefusal) -> HTTPResponse {
        try registrations { file in
            let (entries, book) = try file.phoneBook()
            var names: [String] = []
            for entry in entries where !names.contains(entry.phone.name) { names.append(entry.phone.name) }
            let aliases = names.filter { book.alias(of: $0) != nil }
            return HTTPResponse(
                status: 200,
                json: [
                    "phones": .array(entries.map(\.json)),
                    "aliases": .array(aliases.map { .string($0) }),
                ])
        }
    }

    fileprivate func addPhone(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let new = try NewPhone(body, in: settings)
        let random = PhoneBook.newAlias()
        return try registrations(changing: true) { file in
            let phone = new.entry.phone
            let number: Int64
            switch try file.add(new.entry) {
            case .failure(let refusal): throw refusal.refusal
            case .success(let given): number = given
            }
            var address: DeviceToken?
            // The phone is in the book, and another sender may take its own address.
            if new.isTooLongForBisq2,
                case .success(let given) = try file.giveAlias(random, to: phone.name, replacing: false)
            {
                address = given
            }
            let standIn = try address.flatMap { try new.token?.leading(to: $0).text }
            return HTTPResponse(
                status: 201,
                json: [
                    "number": .integer(number), "name": .string(phone.name),
                    "platform": .string(phone.platform.pairingMagic), "model": .string(new.entry.model),
                    "app": .string(phone.app), "length": .integer(Int64(phone.deviceToken.text.utf8.count)),
                    "address": address.map { .string($0.text) } ?? .null,
                    "stand_in": standIn.map { .string($0) } ?? .null,
                ])
        }
    }

    fileprivate func removePhone(_ number: Int64) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            guard let phone = try file.phoneBook().book.phone(number),
                try file.removePhones(of: phone.name, number: number) > 0
            else { throw NodeCalls.noSuchPhone }
            return HTTPResponse(status: 204)
        }
    }

    fileprivate func removeName(_ name: String) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            let count = try file.removePhones(of: name)
            guard count > 0 else { throw PhoneBook.Refusal.unknownName.refusal }
            return HTTPResponse(status: 200, json: ["count": .integer(Int64(count))])
        }
    }

    fileprivate func rename(_ name: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "name")
        let other = try body.text("name", limit: 256)
        try PhoneBook.check(other)
        return try registrations(changing: true) { file in
            if let refusal = try file.rename(name, to: other) { throw refusal.refusal }
            return HTTPResponse(status: 204)
        }
    }

    /// Gives one address for all phones of the name. With the pairing token of one of them the answer is what
    /// Bisq takes.
    fileprivate func giveAddress(_ name: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "pairing_token", "new")
        let token = try body.optionalText("pairing_token").map { text throws(CallRefusal) in
            try PairingToken(entered: text)
        }
        try token?.refuseAlias()
        let isNew = try body.flag("new")
        let random = PhoneBook.newAlias()
        return try registrations(changing: true) { file in
            switch try file.giveAlias(random, to: name, replacing: isNew) {
            case .failure(let refusal): throw refusal.refusal
            case .success(let alias):
                let text = try token?.leading(to: alias).text ?? alias.text
                return HTTPResponse(
                    status: 200, json: [token == nil ? "address" : "pairing_token": .string(text)])
            }
        }
    }

    fileprivate func removeAddress(_ name: String) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            guard try file.removeAlias(of: name) else {
                throw CallRefusal(.absent, "no_address_of_name", "the name has no alias")
            }
            return HTTPResponse(status: 204)
        }
    }
}

extension PhoneEntry {
    fileprivate var json: JSON {
        [
            "number": .integer(phone.number), "name": .string(phone.name),
            "platform": .string(phone.platform.pairingMagic), "app": .string(phone.app),
            "model": .string(model), "added": .integer(addedAt / 1000),
        ]
    }
}
