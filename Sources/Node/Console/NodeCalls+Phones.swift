import Client
import Doors
import HTTP1
import JSONCoding
import Persistence
import Reactor
import Relay
import Wire

/// The phone book.
extension NodeCalls {
    static let phoneCalls: [Call] = [
        Call("GET", "phones") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.phones()
        },
        Call("POST", "phones") { calls, asked throws(CallRefusal) in try await calls.addPhone(asked.body) },
        Call("DELETE", "phones", "{}") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.removePhone(calls.number(asked.segment))
        },
        Call("POST", "phones", "{}", "ring") { calls, asked throws(CallRefusal) in
            try await calls.ring(calls.number(asked.segment), asked.body)
        },
        Call("PUT", "names", "{}") { calls, asked throws(CallRefusal) in
            try await calls.rename(asked.segment, asked.body)
        },
        Call("DELETE", "names", "{}") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.removeName(asked.segment)
        },
        Call("PUT", "names", "{}", "address") { calls, asked throws(CallRefusal) in
            try await calls.giveAddress(asked.segment, asked.body)
        },
        Call("DELETE", "names", "{}", "address") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.removeAddress(asked.segment)
        },
        Call("GET", "page") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            let link = try await PhonePageLink.text(for: calls.node.settings)
            return HTTPResponse(status: 200, json: ["link": link.map { .string($0) } ?? .null])
        },
    ]

    private func number(_ text: String) throws(CallRefusal) -> Int64 {
        guard let number = Int64(text), number > 0 else { throw NodeCalls.noSuchPhone }
        return number
    }

    private nonisolated static let noSuchPhone = CallRefusal(
        .absent, "unknown_phone", "no phone has this number")

    private func phones() async throws(CallRefusal) -> HTTPResponse {
        try await registrations { file in
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

    private func addPhone(_ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "name", "pairing_token", "app")
        let name = try body.text("name", limit: 256)
        try PhoneBook.check(name)
        let token = try PairingToken(entered: body.text("pairing_token"))
        let entry = try PhoneEntry(
            token.platform, token.deviceToken, app: body.optionalText("app", limit: 256) ?? "", named: name,
            model: token.model, in: node.settings)
        let random = PhoneBook.newAlias()
        let answer = try await registrations(changing: true) { file in
            switch try file.add(entry) {
            case .failure(let refusal): throw refusal.refusal
            case .success(let number):
                let standIn = try NodeCalls.standIn(for: entry.phone, of: token, alias: random, in: file)
                return HTTPResponse(
                    status: 201,
                    json: [
                        "number": .integer(number), "name": .string(name),
                        "platform": .string(entry.phone.platform.stored), "model": .string(entry.model),
                        "stand_in": standIn.map { .string($0) } ?? .null,
                    ])
            }
        }
        await node.phoneBook?.lookNow()
        return answer
    }

    /// A pairing token with an address in place of the phone's, if that is longer than Bisq 2 takes; as the command does.
    private nonisolated static func standIn(
        for phone: PhoneBook.Phone, of token: PairingToken, alias: DeviceToken,
        in file: borrowing RegistrationFile
    ) throws -> String? {
        guard phone.platform == .android,
            phone.deviceToken.text.utf8.count > TrustedNodeDevice.tokenLengths.upperBound,
            case .success(let given) = try file.giveAlias(alias, to: phone.name, replacing: false)
        else { return nil }
        return try token.leading(to: given).text
    }

    private func removePhone(_ number: Int64) async throws(CallRefusal) -> HTTPResponse {
        try await registrations(changing: true) { file in
            guard let phone = try file.phoneBook().book.phone(number),
                try file.removePhones(of: phone.name, number: number) > 0
            else { throw NodeCalls.noSuchPhone }
        }
        await node.phoneBook?.lookNow()
        return HTTPResponse(status: 204)
    }

    private func removeName(_ name: String) async throws(CallRefusal) -> HTTPResponse {
        try await registrations(changing: true) { file in
            guard try file.removePhones(of: name) > 0 else { throw PhoneBook.Refusal.unknownName.refusal }
        }
        await node.phoneBook?.lookNow()
        return HTTPResponse(status: 204)
    }

    private func rename(_ name: String, _ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "name")
        let other = try body.text("name", limit: 256)
        try PhoneBook.check(other)
        try await registrations(changing: true) { file in
            if let refusal = try file.rename(name, to: other) { throw refusal.refusal }
        }
        await node.phoneBook?.lookNow()
        return HTTPResponse(status: 204)
    }

    /// One address for all phones of the name. With the pairing token of one of them the answer is what Bisq takes.
    private func giveAddress(_ name: String, _ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "pairing_token", "new")
        let token = try body.optionalText("pairing_token").map { text throws(CallRefusal) in
            try PairingToken(entered: text)
        }
        let isNew = try body.flag("new")
        let random = PhoneBook.newAlias()
        let alias = try await registrations(changing: true) { file in
            switch try file.giveAlias(random, to: name, replacing: isNew) {
            case .failure(let refusal): throw refusal.refusal
            case .success(let alias): alias
            }
        }
        await node.phoneBook?.lookNow()
        let text = try token?.leading(to: alias).text ?? alias.text
        return HTTPResponse(
            status: 200, json: [token == nil ? "address" : "pairing_token": .string(text)])
    }

    private func removeAddress(_ name: String) async throws(CallRefusal) -> HTTPResponse {
        try await registrations(changing: true) { file in
            guard try file.removeAlias(of: name) else {
                throw CallRefusal(.absent, "no_address_of_name", "the name has no alias")
            }
        }
        await node.phoneBook?.lookNow()
        return HTTPResponse(status: 204)
    }

    /// With the pairing token of the phone the phone can show the test. The node forgets it.
    private func ring(_ number: Int64, _ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "pairing_token")
        guard let door = node.phoneTest, let phone = node.phoneBook?.value.phone(number) else {
            throw NodeCalls.noSuchPhone
        }
        var seal = TestSeal.nobody
        if let text = try body.optionalText("pairing_token") {
            let token = try PairingToken(entered: text)
            guard token.isOf(phone, in: node.phoneBook?.value ?? PhoneBook(), node.settings) else {
                throw CallRefusal(.unfit, "foreign_token", "the pairing token is another phone's")
            }
            seal = .bisq1(key: token.key)
        }
        let message = try seal.seal(for: phone)
        return await withCheckedContinuation { waiting in
            door.ring(phone, message: message) { waiting.resume(returning: $0) }
        }
    }
}

extension PairingToken {
    /// Whether it is the phone's, in whatever spelling, or that of all phones of its name.
    func isOf(_ phone: PhoneBook.Phone, in book: PhoneBook, _ settings: Settings) -> Bool {
        let given = DeviceToken(deviceToken)
        if given == phone.deviceToken || given == book.alias(of: phone.name) { return true }
        let entry = try? PhoneEntry(of: self, named: phone.name, in: settings)
        return entry?.phone.deviceToken == phone.deviceToken
    }
}

extension PhoneEntry {
    fileprivate var json: JSON {
        [
            "number": .integer(phone.number), "name": .string(phone.name),
            "platform": .string(phone.platform.stored), "app": .string(phone.app),
            "model": .string(model), "added": .integer(addedAt / 1000),
        ]
    }
}
