/// Writes hosts and paths in random ways, all of which mean the same.
package struct SpellingWriter {
    package var random: SeededRandom

    package init(random: SeededRandom) { self.random = random }

    package mutating func letters(_ alphabet: String, _ counts: ClosedRange<Int>) -> String {
        let bytes = Array(alphabet.utf8)
        let count = Int.random(in: counts, using: &random)
        return String(
            decoding: (0..<count).map { _ in bytes[Int.random(in: bytes.indices, using: &random)] },
            as: UTF8.self)
    }

    package mutating func escaped(_ byte: UInt8) -> String {
        let digits = Array((Bool.random(using: &random) ? "0123456789abcdef" : "0123456789ABCDEF").utf8)
        return "%" + String(decoding: [digits[Int(byte >> 4)], digits[Int(byte & 15)]], as: UTF8.self)
    }

    package mutating func written(path: String, repeats: ClosedRange<Int> = 1...3) -> String {
        var text = ""
        for byte in path.utf8 {
            let letter = String(decoding: [byte], as: UTF8.self)
            if byte == UInt8(ascii: "/") {
                text += String(repeating: "/", count: Int.random(in: repeats, using: &random))
            } else {
                text += Bool.random(using: &random) ? escaped(byte) : letter
            }
        }
        return text
    }

    package mutating func written(host: String, port: UInt16?) -> String {
        var text = ""
        for byte in host.utf8 {
            let letter = String(decoding: [byte], as: UTF8.self)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text += letter.uppercased()
            case 1: text += escaped(byte)
            case _: text += letter
            }
        }
        if Bool.random(using: &random) { text += "." }
        switch port {
        case let port?: text += ":\(Bool.random(using: &random) ? "0" : "")\(port)"
        case nil: text += ["", ":", ":443", ":0443"].randomElement(using: &random) ?? ""
        }
        return text
    }
}
