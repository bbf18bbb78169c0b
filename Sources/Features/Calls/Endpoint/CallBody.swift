import Encodings
import HTTP1
import JSONCoding
import Node

/// The question of a call: the members of its body, or of its query, as the call's shape has them. An empty body is an empty
/// object.
package struct CallBody {
    private let members: JSON.Object
    /// All of it is text.
    private var isQuery = false

    init(query: String, as shape: CallShape) throws(CallRefusal) {
        do throws(HTTPFault) {
            var members = JSON.Object()
            for (name, value) in try HTTPQuery(query).all { members[name] = .string(value) }
            self.members = members
        } catch {
            throw CallRefusal(.malformed, "bad_request", "the query can't be read: \(error)")
        }
        isQuery = true
        try check(shape)
    }

    init(_ bytes: [UInt8], as shape: CallShape) throws(CallRefusal) {
        if bytes.isEmpty {
            members = [:]
        } else if let object = (try? JSON(bytes, maximumDepth: 3))?.object {
            members = object
        } else {
            throw CallRefusal(.malformed, "bad_request", "the body must be an object of JSON")
        }
        try check(shape)
    }

    /// Refuses what the call does not ask for, which is a mistake, and what has another shape.
    private func check(_ shape: CallShape) throws(CallRefusal) {
        let known = shape.members
        for key in members.keys where !known.contains(where: { $0.name.hasSameBytes(as: key) }) {
            var names: [String] = []
            for member in known where !names.contains(member.name) { names.append(member.name) }
            throw CallRefusal(
                .malformed, "bad_request",
                names.isEmpty
                    ? "the body must be empty" : "known members are \(names.joined(separator: ", "))"
            )
        }
        for member in known {
            if let value = members[member.name] {
                if let words = member.shape.fault(of: value, isQuery: isQuery) {
                    throw Self.fault(member.name, words)
                }
            } else if shape.isObject, !member.isOptional {
                throw Self.fault(member.name, "is missing")
            }
        }
    }

    /// Returns a text that has to be there.
    package func text(_ name: String) throws(CallRefusal) -> String {
        guard let text = optionalText(name) else { throw Self.fault(name, "is missing") }
        return text
    }

    package func optionalText(_ name: String) -> String? { members[name]?.string }

    /// Returns whether a flag is there, and true.
    package func flag(_ name: String) -> Bool {
        isQuery ? optionalText(name) == "true" : members[name]?.bool ?? false
    }

    package func number(_ name: String) -> Int64? {
        isQuery ? optionalText(name).flatMap { Int64($0) } : members[name]?.integer
    }

    package func numbers(_ name: String) -> [Int64]? { members[name]?.array?.compactMap(\.integer) }

    package func texts(_ name: String) -> [String] { members[name]?.array?.compactMap(\.string) ?? [] }

    /// Returns an object's texts by their names; empty if the object is not there.
    package func texts(of name: String) -> [(key: String, value: String)] {
        (members[name]?.object ?? [:]).compactMap { key, value in value.string.map { (key, $0) } }
    }

    private static func fault(_ name: String, _ words: String) -> CallRefusal {
        CallRefusal(.malformed, "bad_request", "\(name) \(words)")
    }
}
