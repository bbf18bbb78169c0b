import Encodings

/// The header fields of a message, in the order sent; names of what was received in lower case.
///
/// They lie as bytes in one run, and a text is made of those only that are asked for.
package struct HTTPFields: Equatable, Sendable {
    /// Where one lies: its name from `start`, its value up to `end`.
    private struct Mark: Equatable {
        let start: Int
        let nameEnd: Int
        let end: Int
    }

    private var bytes: [UInt8] = []
    private var marks: [Mark] = []

    package init() {}

    init(bytes: Int, fields: Int) {
        self.bytes.reserveCapacity(bytes)
        marks.reserveCapacity(fields)
    }

    package var count: Int { marks.count }

    package var all: [(name: String, value: String)] {
        marks.map { (text($0.start..<$0.nameEnd), text($0.nameEnd..<$0.end)) }
    }

    /// - Parameter name: in lower case, where it is to be found again.
    package mutating func append(_ name: String, _ value: String) {
        bytes.append(name)
        let nameEnd = bytes.count
        bytes.append(value)
        marks.append(Mark(start: nameEnd - name.utf8.count, nameEnd: nameEnd, end: bytes.count))
    }

    /// - Parameter name: of ASCII, in any case.
    mutating func append(received name: Span<UInt8>, _ value: Span<UInt8>) {
        let start = bytes.count
        bytes.append(addingCapacity: name.count + value.count) { output in
            for index in name.indices { output.append(ASCII.lowercased(name[index])) }
            for index in value.indices { output.append(value[index]) }
        }
        marks.append(Mark(start: start, nameEnd: start + name.count, end: bytes.count))
    }

    /// The value of the first field of that name (in lower case).
    package subscript(name: String) -> String? {
        let wanted = name.utf8.span
        for mark in marks where has(mark, wanted) { return text(mark.nameEnd..<mark.end) }
        return nil
    }

    /// The same as its bytes; none where there is no such field.
    func withValue<Result>(of name: String, _ body: (Span<UInt8>) -> Result) -> Result {
        let wanted = name.utf8.span
        for mark in marks where has(mark, wanted) {
            return body(bytes.span.extracting(mark.nameEnd..<mark.end))
        }
        return body("".utf8.span)
    }

    func count(of name: String) -> Int {
        let wanted = name.utf8.span
        var count = 0
        for mark in marks where has(mark, wanted) { count += 1 }
        return count
    }

    /// Whether a list field such as `connection` contains `token` (in lower case), without regard to case.
    package func list(_ name: String, contains token: String) -> Bool {
        let wanted = name.utf8.span
        for mark in marks where has(mark, wanted) {
            let found = bytes[mark.nameEnd..<mark.end].split(separator: UInt8(ascii: ",")).contains {
                $0.trimmingBlanks.lazy.map(ASCII.lowercased).elementsEqual(token.utf8)
            }
            if found { return true }
        }
        return false
    }

    /// Appends `\r\nname: value` for each.
    func encode(into output: inout [UInt8]) {
        for mark in marks {
            output.append("\r\n")
            output.append(contentsOf: bytes[mark.start..<mark.nameEnd])
            output.append(": ")
            output.append(contentsOf: bytes[mark.nameEnd..<mark.end])
        }
    }

    private func has(_ mark: Mark, _ name: Span<UInt8>) -> Bool {
        mark.nameEnd - mark.start == name.count
            && bytes.span.extracting(mark.start..<mark.nameEnd).hasSameBytes(as: name)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension Collection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// Without blanks and tabs at both ends.
    var trimmingBlanks: SubSequence.SubSequence {
        let start = drop(while: \.isBlank)
        let end = start.lastIndex { !$0.isBlank }
        return end.map { start[...$0] } ?? start[start.endIndex...]
    }
}
