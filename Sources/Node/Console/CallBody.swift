import HTTP1
import JSONCoding

/// The body of a call: an object of JSON, each member of which somebody asks for. An empty body is an empty object.
struct CallBody {
    private let members: JSON.Object
    /// All of it is text.
    private var isQuery = false

    init(query: String) throws(CallRefusal) {
        do throws(HTTPFault) {
            var members = JSON.Object()
            for (name, value) in try HTTPQuery(query).all { members[name] = .string(value) }
            self.members = members
            isQuery = true
        } catch {
            throw CallRefusal(.malformed, "bad_request", "the query can't be read: \(error)")
        }
    }

    init(_ bytes: [UInt8]) throws(CallRefusal) {
        guard !bytes.isEmpty else {
            members = [:]
            return
        }
        guard let object = (try? JSON(bytes, maximumDepth: 3))?.object else {
            throw CallRefusal(.malformed, "bad_request", "the body must be an object of JSON")
        }
        members = object
    }

    /// Returns a text that has to be there.
    func text(_ name: String, limit: Int = 8192) throws(CallRefusal) -> String {
        guard let text = try optionalText(name, limit: limit) else { throw Self.fault(name, "is missing") }
        return text
    }

    func optionalText(_ name: String, limit: Int = 8192) throws(CallRefusal) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string else { throw Self.fault(name, "must be a text") }
        guard text.utf8.count <= limit else { throw Self.fault(name, "has more than \(limit) bytes") }
        return text
    }

    func flag(_ name: String) throws(CallRefusal) -> Bool { try optionalFlag(name) ?? false }

    func optionalFlag(_ name: String) throws(CallRefusal) -> Bool? {
        guard let value = members[name] else { return nil }
        guard let flag = value.bool else { throw Self.fault(name, "must be true or false") }
        return flag
    }

    /// Returns a whole number from zero on.
    func number(_ name: String) throws(CallRefusal) -> Int64? {
        guard let value = members[name] else { return nil }
        guard let number = isQuery ? value.string.flatMap({ Int64($0) }) : value.integer, number >= 0 else {
            throw Self.fault(name, "must be a whole number")
        }
        return number
    }

    func numbers(_ name: String, most: Int) throws(CallRefusal) -> [Int64]? {
        guard let value = members[name] else { return nil }
        guard let items = value.array, items.count <= most else {
            throw Self.fault(name, "must be a list of at most \(most) numbers")
        }
        var numbers: [Int64] = []
        for item in items {
            guard let number = item.integer, number > 0 else {
                throw Self.fault(name, "must be a list of numbers from 1 on")
            }
            numbers.append(number)
        }
        return numbers
    }

    func texts(_ name: String, limit: Int = 8192) throws(CallRefusal) -> [String] {
        guard let value = members[name] else { return [] }
        guard let items = value.array else { throw Self.fault(name, "must be a list of texts") }
        var texts: [String] = []
        for item in items.prefix(1000) {
            guard let text = item.string, text.utf8.count <= limit else {
                throw Self.fault(name, "must be a list of texts")
            }
            texts.append(text)
        }
        return texts
    }

    /// Returns an object's texts by their names; empty if the object is not there.
    func texts(of name: String, limit: Int) throws(CallRefusal) -> [(key: String, value: String)] {
        guard let value = members[name] else { return [] }
        guard let object = value.object, object.count <= 32 else {
            throw Self.fault(name, "must be an object with texts")
        }
        var texts: [(key: String, value: String)] = []
        for (key, value) in object {
            guard let text = value.string, text.utf8.count <= limit else {
                throw Self.fault(name, "must be an object with texts")
            }
            texts.append((key, text))
        }
        return texts
    }

    /// Refuses members that nobody asks for: they are a mistake.
    func refuseOthers(but known: String...) throws(CallRefusal) {
        for key in members.keys where !known.contains(key) {
            throw CallRefusal(
                .malformed, "bad_request",
                known.isEmpty
                    ? "the body must be empty" : "known members are \(known.joined(separator: ", "))")
        }
    }

    private static func fault(_ name: String, _ words: String) -> CallRefusal {
        CallRefusal(.malformed, "bad_request", "\(name) \(words)")
    }
}
