import Encodings

extension JSON {
    /// The members of an object by their keys, in no order. Keys are compared as bytes (``Encodings/ByteText``): they are a
    /// stranger's.
    package struct Object: Equatable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
        private var members: [ByteText: JSON]

        package init() { members = [:] }

        /// Makes an object of these members; no key may come twice.
        package init(dictionaryLiteral members: (String, JSON)...) {
            self.init(members)
        }

        /// Makes an object of these members; no key may come twice.
        package init(_ members: some Sequence<(String, JSON)>) {
            self.members = Dictionary(uniqueKeysWithValues: members.map { (ByteText($0), $1) })
        }

        private init(_ members: [ByteText: JSON]) { self.members = members }

        package var count: Int { members.count }
        package var isEmpty: Bool { members.isEmpty }

        package var keys: some Sequence<String> { members.keys.lazy.map(\.wrappedValue) }
        package var values: some Sequence<JSON> { members.values }

        package subscript(key: String) -> JSON? {
            get { members[ByteText(key)] }
            set { members[ByteText(key)] = newValue }
        }

        package func mapValues(_ transform: (JSON) -> JSON) -> Object {
            Object(members.mapValues(transform))
        }

        package func filter(_ isIncluded: ((key: String, value: JSON)) -> Bool) -> Object {
            Object(members.filter { isIncluded(($0.key.wrappedValue, $0.value)) })
        }

        /// Returns the object with the members of `other`, in place of its own where both have a key.
        package func merging(_ other: Object) -> Object {
            Object(members.merging(other.members) { _, new in new })
        }

        package func makeIterator() -> some IteratorProtocol<(key: String, value: JSON)> {
            members.lazy.map { (key: $0.key.wrappedValue, value: $0.value) }.makeIterator()
        }
    }
}

extension JSON: Equatable {
    /// Compares two values; texts are compared as bytes.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _), (.object, _):
            false
        }
    }
}
