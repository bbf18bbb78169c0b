import Encodings

/// The names that the operator gave to phones. A value: each change makes another one.
package struct PhoneBook: Equatable, Sendable {
    /// A phone under its name.
    package struct Phone: Equatable, Sendable {
        /// The book's own number for the phone, never given again.
        package let number: Int64
        package let name: String
        package let platform: Platform
        /// Empty: the one that serves the sender's generation of phones.
        package let app: String
        /// The device token, in the one spelling of its service.
        package let deviceToken: DeviceToken

        package init(
            number: Int64, name: String, platform: Platform, app: String = "", deviceToken: DeviceToken
        ) {
            self.number = number
            self.name = name
            self.platform = platform
            self.app = app
            self.deviceToken = deviceToken
        }

        var form: Form { Form(platform) }
    }

    /// The form that a message for a phone must have: Bisq 1 seals for iPhones in another one than for the others.
    package enum Form: Equatable, Sendable {
        case ios, android

        package init(_ platform: Platform) { self = platform == .android ? .android : .ios }
    }

    /// The beginning of an address that stands for all phones of a name.
    package static let aliasPrefix = "al1:"
    /// Bytes of an alias: Bisq 2 registers 100 to 300 for Android.
    package static let aliasLengths = 100...300
    /// Letters of a name, each of any script; one of ``isWord(_:)`` may have more.
    package static let longestName = 40
    private static let longestWord = 64
    package static let mostPhones = 1000
    /// The most phones of a name: a notification to an alias becomes one for each.
    package static let mostPhonesOfName = 10

    /// The phones in the order of their numbers.
    package let phones: [Phone]
    private let addresses: Set<DeviceToken>
    private let aliases: [DeviceToken: [Phone]]

    /// Makes a phone book. `aliases` has the aliases by the names that have one.
    package init(_ phones: [Phone] = [], aliases: [ByteText: DeviceToken] = [:]) {
        self.phones = phones
        addresses = Set(phones.map(\.deviceToken))
        var members: [DeviceToken: [Phone]] = [:]
        for phone in phones {
            guard let alias = aliases[ByteText(phone.name)] else { continue }
            members[alias, default: []].append(phone)
        }
        self.aliases = members
    }

    var hasAliases: Bool { !aliases.isEmpty }

    func holds(_ deviceToken: DeviceToken) -> Bool { addresses.contains(deviceToken) }

    /// Returns the apps that serve this address; an empty name stands for the app that does so by default.
    func apps(of deviceToken: DeviceToken) -> [String] {
        phones.lazy.filter { $0.deviceToken == deviceToken }.map(\.app)
    }

    func phones(behind alias: DeviceToken) -> [Phone]? { aliases[alias] }

    package func phone(_ number: Int64) -> Phone? { phones.first { $0.number == number } }

    /// Returns the phones of a name, in the order of their numbers.
    package func phones(of name: String) -> [Phone] { phones.filter { $0.name == name } }

    package func alias(of name: String) -> DeviceToken? {
        aliases.first { $0.value.first?.name == name }?.key
    }

    // MARK: What the book takes

    /// Why the book does not take a change.
    package enum Refusal: Error, Equatable, Sendable {
        /// The book has ``mostPhones``.
        case full
        /// The name has ``mostPhonesOfName``.
        case nameIsFull
        case alreadyThere(number: Int64)
        /// All phones of an alias take messages of one form.
        case formsDiffer
        case unknownName
        case nameIsTaken
    }

    package func refusal(ofAdding phone: Phone) -> Refusal? {
        let others = phones(of: phone.name)
        if let same = others.first(where: { $0.deviceToken == phone.deviceToken }) {
            return .alreadyThere(number: same.number)
        }
        if phones.count >= PhoneBook.mostPhones { return .full }
        if others.count >= PhoneBook.mostPhonesOfName { return .nameIsFull }
        if alias(of: phone.name) != nil, others.contains(where: { $0.form != phone.form }) {
            return .formsDiffer
        }
        return nil
    }

    package func refusal(ofRenaming name: String, to other: String) -> Refusal? {
        if phones(of: name).isEmpty { return .unknownName }
        return phones(of: other).isEmpty ? nil : .nameIsTaken
    }

    package func refusal(ofAliasFor name: String) -> Refusal? {
        let phones = phones(of: name)
        guard let first = phones.first else { return .unknownName }
        return phones.allSatisfy { $0.form == first.form } ? nil : .formsDiffer
    }

    /// Whether a text can be a phone's name: letters and signs of any script that are seen, with single blanks between them.
    package static func isName(_ text: String) -> Bool {
        guard !isWord(text) else { return true }
        let letters = text.unicodeScalars
        guard text.utf8.count <= 4 * longestName, (1...longestName).contains(letters.count) else {
            return false
        }
        // What is unseen makes two names of one, so it stands between others only.
        var wasSeen = false
        for letter in letters {
            let isSeen = letter.isSeen
            guard isSeen || wasSeen && letter.joins else { return false }
            wasSeen = isSeen
        }
        return wasSeen
    }

    /// Whether a text can be a name that other programs take too, as a reader's of a mailbox: 1 to 64 letters of ASCII, digits,
    /// `.`, `-` and `_`.
    package static func isWord(_ text: String) -> Bool {
        (1...longestWord).contains(text.utf8.count)
            && text.consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, ".") | ASCII.equal($0, "-")
                    | ASCII.equal($0, "_")
            }
    }

    /// Returns an alias of 72 random bytes, given as 96 characters of Base64's alphabet for URLs.
    package static func alias(_ random: String) -> DeviceToken {
        precondition(random.utf8.count == 96, "\(random.utf8.count) characters for an alias")
        return DeviceToken(aliasPrefix + random)
    }
}

extension Unicode.Scalar {
    private static let unseen: [Unicode.GeneralCategory] = [
        .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .surrogate, .privateUse,
        .unassigned,
    ]

    /// Whether a letter or sign is to be seen, by itself or on the one before it.
    fileprivate var isSeen: Bool { !Self.unseen.contains(properties.generalCategory) }

    /// Whether a sign may stand between two that are seen: a blank, and what makes one letter of two.
    fileprivate var joins: Bool { [" ", "\u{200C}", "\u{200D}"].contains(self) }
}
