import Calls
import Doors
import HTTP1
import JSONCoding
import Node
import Persistence
import Relay
import Wire

/// The phone book, as its calls read and change it.
extension NodeFiles {
    func phones() throws(CallRefusal) -> HTTPResponse {
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

    func addPhone(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
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

    func removePhone(_ number: Int64) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            guard let phone = try file.phoneBook().book.phone(number),
                try file.removePhones(of: phone.name, number: number) > 0
            else { throw NodeCalls.noSuchPhone }
            return HTTPResponse(status: 204)
        }
    }

    func removeName(_ name: String) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            let count = try file.removePhones(of: name)
            guard count > 0 else { throw PhoneBook.Refusal.unknownName.refusal }
            return HTTPResponse(status: 200, json: ["count": .integer(Int64(count))])
        }
    }

    func rename(_ name: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let other = try body.text("name")
        try PhoneBook.check(other)
        return try registrations(changing: true) { file in
            if let refusal = try file.rename(name, to: other) { throw refusal.refusal }
            return HTTPResponse(status: 204)
        }
    }

    /// Gives one address for all phones of the name. With the pairing token of one of them the answer is what
    /// Bisq takes.
    func giveAddress(_ name: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let token = try body.optionalText("pairing_token").map { text throws(CallRefusal) in
            try PairingToken(entered: text)
        }
        try token?.refuseAlias()
        let isNew = body.flag("new")
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

    func removeAddress(_ name: String) throws(CallRefusal) -> HTTPResponse {
        try registrations(changing: true) { file in
            guard try file.removeAlias(of: name) else {
                throw CallRefusal(.absent, "no_address_of_name", "the name has no alias")
            }
            return HTTPResponse(status: 204)
        }
    }
}

extension PhoneEntry {
    static let shape = CallShape.named(
        "Phone",
        [
            "number": .number, "name": .phoneName, "platform": NewPhone.platforms, "app": .text,
            "model": .text,
            "added": .time,
        ])

    fileprivate var json: JSON {
        [
            "number": .integer(phone.number), "name": .string(phone.name),
            "platform": .string(phone.platform.pairingMagic), "app": .string(phone.app),
            "model": .string(model), "added": .integer(addedAt / 1000),
        ]
    }
}

extension PhoneBook {
    package static func check(_ name: String) throws(CallRefusal) {
        guard isName(name) else {
            throw CallRefusal(
                .unfit, "bad_phone_name",
                "\(SettingsFault.shown(name)) is no name: up to \(longestName) letters and signs of any script, with single blanks between them"
            )
        }
    }
}
