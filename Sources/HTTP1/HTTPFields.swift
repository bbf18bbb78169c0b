import Encodings

/// The header fields of a message, in the order sent; names in lower case.
package struct HTTPFields: Equatable, Sendable {
    package private(set) var all: [(name: String, value: String)] = []

    package init() {}

    init(capacity: Int) {
        all.reserveCapacity(capacity)
    }

    package static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        left.all.elementsEqual(right.all) { $0.name == $1.name && $0.value.hasSameBytes(as: $1.value) }
    }

    package mutating func append(_ name: String, _ value: String) {
        all.append((name, value))
    }

    /// The value of the first field of that name (in lower case).
    package subscript(name: String) -> String? {
        all.first { $0.name == name }?.value
    }

    func count(of name: String) -> Int {
        all.count { $0.name == name }
    }

    /// Whether a list field such as `connection` contains `token`, without regard to case.
    func list(_ name: String, contains token: String) -> Bool {
        all.contains { field in
            field.name == name
                && field.value.utf8.split(separator: UInt8(ascii: ",")).contains {
                    $0.trimmingBlanks.lazy.map(ASCII.lowercased).elementsEqual(token.utf8)
                }
        }
    }
}

extension Collection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// Without blanks and tabs at both ends.
    var trimmingBlanks: SubSequence.SubSequence {
        let start = drop(while: \.isBlank)
        let end = start.lastIndex { !$0.isBlank }
        return end.map { start[...$0] } ?? start[start.endIndex...]
    }
}
