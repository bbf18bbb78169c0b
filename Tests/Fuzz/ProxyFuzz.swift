// Any bytes at the head of a stream that tor should have begun. Built by Deploy/tools/fuzz.
@testable import Wire

func fuzzProxy(_ input: [UInt8]) {
    let whole = reading([input])
    precondition(whole == reading(input.map { [$0] }), "single bytes are read differently")
    let cut = input.isEmpty ? 0 : Int(input[input.count - 1]) % (input.count + 1)
    precondition(
        whole == reading([Array(input[..<cut]), Array(input[cut...])]), "pieces are read differently")
    if case .line(let line, let length) = whole {
        // There is one way to write each line, so nothing else was taken for it.
        let high = String(line.circuit >> 16, radix: 16)
        let low = String(line.circuit & 0xFFFF, radix: 16)
        let text =
            "PROXY TCP6 fc00:dead:beef:4dad::\(high):\(low) ::1 \(line.circuit & 0xFFFF) \(line.port)\r\n"
        precondition(Array(text.utf8) == Array(input[..<length]))
    }
    // What follows the words that every line begins with is where the numbers are.
    precondition(
        reading([Array("PROXY TCP6 fc00:dead:beef:4dad::".utf8) + input]) != .waiting
            || input.count + 32 <= ProxyLineDecoder.maximumLength)
}

private enum Reading: Equatable {
    /// `length`: bytes of the line.
    case line(ProxyLine, length: Int)
    case waiting
    case refused
}

private func reading(_ pieces: [[UInt8]]) -> Reading {
    var decoder = ProxyLineDecoder()
    var length = 0
    for piece in pieces {
        var position = 0
        do throws(ProxyLineError) {
            let line = try decoder.decode(piece.span, from: &position)
            length += position
            if let line { return .line(line, length: length) }
        } catch {
            return .refused
        }
    }
    return .waiting
}
