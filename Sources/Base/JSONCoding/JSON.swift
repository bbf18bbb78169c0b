/// A JSON value from outside (RFC 8259): small documents, such as a gateway's answer or a door's body.
///
/// ``init(_:maximumDepth:ignoresRest:)`` is as strict as the grammar, and reads what the grammar leaves open as the readers
/// of Go and Java do, whose senders come here: of a key that is repeated the last one holds; half a surrogate pair, and bytes
/// that are not UTF-8, become U+FFFD. Memory is a small multiple of the text's length, which the caller bounds; time is
/// bounded by ``mostValues`` as well.
///
/// Why no library: a request of Bisq 2 (1,034 bytes, nearly all of them one text) takes this reader 0.6 to 0.9
/// microseconds and jansson 2.14 9.2, as much as everything else that a node does for such a request; and jansson gives no
/// member as it was written, which Bitwarden's payload must be.
package enum JSON: Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object(Object)

    /// The most values in one document, those within others counted too: four times as many as a list of the
    /// most tokens that an endpoint takes. Each costs up to a microsecond, and a document must cost the event
    /// loop no more than 5 ms.
    package static let mostValues = 4_000
}

extension JSON {
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: Object? {
        if case .object(let value) = self { value } else { nil }
    }

    /// Returns the value under `key`, or `nil` where this is no object or has no such key.
    package subscript(key: String) -> JSON? { object?[key] }
}

/// Why a text is no JSON document that we take. Offsets count bytes from the start.
package enum JSONError: Error, Equatable {
    case unexpectedByte(offset: Int)
    case unexpectedEnd
    case tooDeep(maximum: Int)
    case tooManyValues(maximum: Int)
    case invalidNumber(offset: Int)
}

extension JSONError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unexpectedByte(let offset): "unexpected byte at offset \(offset)"
        case .unexpectedEnd: "the text ends within a value"
        case .tooDeep(let maximum): "nested deeper than \(maximum) levels"
        case .tooManyValues(let maximum): "more than \(maximum) values"
        case .invalidNumber(let offset): "the number at offset \(offset) is not valid"
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral text: String) { self = .string(text) }
    package init(integerLiteral value: Int64) { self = .integer(value) }

    /// Makes an object of these members; no key may come twice.
    package init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(Object(members))
    }
}
