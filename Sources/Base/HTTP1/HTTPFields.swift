import Encodings

/// The header fields of a message, in the order sent; names of what was received in lower case.
///
/// They lie as bytes in one run, and a text is made of those only that are asked for.
package struct HTTPFields: Sendable {
    /// The place of one field in the bytes.
    private struct Mark {
        let name: Range<Int>
        let value: Range<Int>
    }

    private var bytes: [UInt8] = []
    private var marks: [Mark] = []

    package init() {}

    /// Makes fields over the bytes of a head. None of the fields is read yet.
    init(in head: ArraySlice<UInt8>) {
        bytes = Array(head)
        marks.reserveCapacity(8)
    }

    package var count: Int { marks.count }

    package var all: [(name: String, value: String)] {
        marks.map { (text($0.name), text($0.value)) }
    }

    /// Appends a field. The name has to be in lower case, where it is to be found again.
    package mutating func append(_ name: String, _ value: String) {
        let start = bytes.count
        bytes.append(name)
        let nameEnd = bytes.count
        bytes.append(value)
        marks.append(Mark(name: start..<nameEnd, value: nameEnd..<bytes.count))
    }

    /// Adds a field of the head that this was made of.
    ///
    /// - Parameter name: of ASCII, in any case.
    mutating func mark(name: Range<Int>, value: Range<Int>) {
        var letters = bytes.mutableSpan
        for index in name { letters[index] = ASCII.lowercased(letters[index]) }
        marks.append(Mark(name: name, value: value))
    }

    /// Gives the field of that name (in lower case) this value from now on, whether there was one or not.
    mutating func replace(_ name: String, by value: ArraySlice<UInt8>) {
        let own = marks
        marks = own.filter { !has($0, name) }
        append(name, String(decoding: value, as: UTF8.self))
    }

    /// Returns the value of the first field of that name (in lower case).
    package subscript(name: String) -> String? {
        for mark in marks where has(mark, name) { return text(mark.value) }
        return nil
    }

    /// Calls `body` with the bytes of a field's value; with none where there is no such field.
    func withValue<Result>(of name: String, _ body: (Span<UInt8>) -> Result) -> Result {
        for mark in marks where has(mark, name) {
            return body(bytes.span.extracting(mark.value))
        }
        return body(Span())
    }

    /// Calls `body` with the values of all fields of that name (in lower case), until it gives something.
    package func firstResult<Result>(of name: String, _ body: (Span<UInt8>) -> Result?) -> Result? {
        for mark in marks where has(mark, name) {
            if let result = body(bytes.span.extracting(mark.value)) { return result }
        }
        return nil
    }

    /// Calls `body` with the values of all fields of a name, from the last to the first, and returns its first result.
    package func lastResult<Result>(of name: String, _ body: (Span<UInt8>) -> Result?) -> Result? {
        for mark in marks.reversed() where has(mark, name) {
            if let result = body(bytes.span.extracting(mark.value)) { return result }
        }
        return nil
    }

    func count(of name: String) -> Int {
        var count = 0
        for mark in marks where has(mark, name) { count += 1 }
        return count
    }

    /// Whether a list field such as `connection` contains `token` (in lower case), without regard to case.
    package func list(_ name: String, contains token: String) -> Bool {
        for mark in marks where has(mark, name) {
            let found = bytes[mark.value].split(separator: UInt8(ascii: ",")).contains {
                $0.trimmingBlanks.lazy.map(ASCII.lowercased).elementsEqual(token.utf8)
            }
            if found { return true }
        }
        return false
    }

    /// Appends `\r\nname: value` for each field.
    func encode(into output: inout [UInt8]) {
        for mark in marks {
            output.append("\r\n")
            output.append(contentsOf: bytes[mark.name])
            output.append(": ")
            output.append(contentsOf: bytes[mark.value])
        }
    }

    // Most differ in length, which is looked at without a call.
    @inline(__always)
    private func has(_ mark: Mark, _ name: String) -> Bool {
        mark.name.count == name.utf8.count && spells(mark, name)
    }

    private func spells(_ mark: Mark, _ name: String) -> Bool {
        bytes.span.extracting(mark.name).hasSameBytes(as: name)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension HTTPFields: Equatable {
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        left.marks.count == right.marks.count
            && zip(left.marks, right.marks).allSatisfy {
                left.bytes[$0.name] == right.bytes[$1.name] && left.bytes[$0.value] == right.bytes[$1.value]
            }
    }
}

extension Collection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// The bytes without blanks and tabs at both ends.
    package var trimmingBlanks: SubSequence.SubSequence {
        let start = drop(while: \.isBlank)
        let end = start.lastIndex { !$0.isBlank }
        return end.map { start[...$0] } ?? start[start.endIndex...]
    }
}
