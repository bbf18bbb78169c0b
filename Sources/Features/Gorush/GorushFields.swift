import Encodings
import JSONCoding

/// The members of a JSON object by the types that gorush's Go code asks for: what is missing or `null` is nothing, a
/// value of another type spoils the whole request.
struct GorushFields {
    private let members: JSON.Object
    /// Members by their names in lower case, for names that are missing as gorush spells them: Go ignores the case of a name
    /// where no member has the exact name. Empty where all names are in lower case.
    private var others: JSON.Object

    init(_ members: JSON.Object) {
        self.members = members
        let isPlain = members.keys.allSatisfy { $0.utf8.allSatisfy { ASCII.upperCase($0) == 0 } }
        others = [:]
        guard !isPlain else { return }
        for (key, value) in members where others[key.lowercasedASCII] == nil {
            others[key.lowercasedASCII] = value
        }
    }

    private func value(_ key: String) -> JSON? {
        switch members[key] ?? others[key] {
        case nil, .null: nil
        case let value?: value
        }
    }

    func string(_ key: String) throws(GorushFault) -> String {
        switch value(key) {
        case nil: ""
        case .string(let text): text
        default: throw .missing
        }
    }

    func bool(_ key: String) throws(GorushFault) -> Bool {
        switch value(key) {
        case nil: false
        case .bool(let value): value
        default: throw .missing
        }
    }

    func integer(_ key: String) throws(GorushFault) -> Int64? {
        switch value(key) {
        case nil: nil
        case .integer(let value): value
        default: throw .missing
        }
    }

    func number(_ key: String) throws(GorushFault) -> Double {
        switch value(key) {
        case nil: 0
        case .integer(let value): Double(value)
        case .number(let value): value
        default: throw .missing
        }
    }

    func strings(_ key: String) throws(GorushFault) -> [String] {
        switch value(key) {
        case nil: return []
        case .array(let elements):
            var strings: [String] = []
            for element in elements {
                switch element {
                case .string(let text): strings.append(text)
                case .null: strings.append("")
                default: throw .missing
                }
            }
            return strings
        default: throw .missing
        }
    }

    func object(_ key: String) throws(GorushFault) -> JSON.Object? {
        switch value(key) {
        case nil: nil
        case .object(let members): members
        default: throw .missing
        }
    }

    /// Returns a member of any type.
    func any(_ key: String) -> JSON? { value(key) }
}
