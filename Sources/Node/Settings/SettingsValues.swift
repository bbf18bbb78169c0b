import Encodings
import Reactor

/// The kinds of values a configuration has.
extension SettingsReader.Section {
    func text(_ name: String, default fallback: String = "") -> String {
        value(name, default: fallback, expecting: "text without line breaks, up to 4096 characters") {
            $0.utf8.count <= 4096 && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? $0 : nil
        }
    }

    /// Reads a text that must not be empty, like ``text(_:default:)``.
    func word(_ name: String, default fallback: String) -> String {
        let word = text(name, default: fallback)
        if word.isEmpty { fault(name, "must not be empty") }
        return word
    }

    /// Reads a name for other programs: no blank, nothing that a header, a log or a label would have to
    /// quote.
    func identifier(_ name: String) -> String {
        value(name, default: "", expecting: "letters, digits, '.', '-' and '_', up to 255") { text in
            text.utf8.count <= 255 && text.consists(of: identifierCharacter) ? text : nil
        }
    }

    func path(_ name: String, default fallback: String = "") -> String {
        reader.absolute(text(name, default: fallback))
    }

    /// Reads the path of a file that holds a key, a certificate or a password.
    func credential(_ name: String) -> String { reader.credential(text(name)) }

    func stateFile(_ name: String) -> String { "\(reader.stateDirectory)/\(name)" }

    var goesThroughTor: Bool { reader.goesThroughTor }

    func integer(_ name: String, default fallback: Int, in range: ClosedRange<Int>) -> Int {
        value(
            name, default: fallback,
            expecting: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func number(_ name: String, default fallback: Double, in range: ClosedRange<Double>) -> Double {
        value(
            name, default: fallback, expecting: "a number from \(range.lowerBound) to \(range.upperBound)"
        ) {
            Double($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func seconds(_ name: String, default fallback: Duration, in range: ClosedRange<Int>) -> Duration {
        let whole = value(
            name, default: Int(fallback.components.seconds),
            expecting: "whole seconds from \(range.lowerBound) to \(range.upperBound)"
        ) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
        return .seconds(whole)
    }

    func flag(_ name: String, default fallback: Bool) -> Bool {
        value(name, default: fallback, expecting: "true or false") { Bool($0) }
    }

    func choice<Value: RawRepresentable & CaseIterable>(_ name: String, default fallback: Value) -> Value
    where Value.RawValue == String {
        let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return value(name, default: fallback, expecting: "one of \(allowed)") { Value(rawValue: $0) }
    }

    func port(_ name: String, default fallback: UInt16) -> UInt16 {
        UInt16(integer(name, default: Int(fallback), in: 1...65535))
    }

    func endpoint(_ name: String, default fallback: Endpoint) -> Endpoint {
        value(name, default: fallback, expecting: "ADDRESS:PORT or unix:/PATH") { Endpoint($0) }
    }

    func optionalEndpoint(_ name: String) -> Endpoint? {
        value(name, default: Endpoint?.none, expecting: "ADDRESS:PORT, unix:/PATH, or nothing") {
            $0.isEmpty ? .some(nil) : Endpoint($0).map { .some($0) }
        }
    }
}

private func identifierCharacter(_ byte: UInt8) -> UInt8 {
    ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, ".") | ASCII.equal(byte, "-")
        | ASCII.equal(byte, "_")
}
