import Encodings
import Relay

/// The form of a setting's value. The console's fields and the tests of all settings go by it.
package enum SettingKind: Equatable, Sendable {
    /// A whole number in this unit; an empty one: a plain number.
    case whole(ClosedRange<Int>, unit: String)
    case fraction(ClosedRange<Double>, unit: String)
    case choice([String])
    case text
    case path
    /// A file that holds a key or a password.
    case secretFile
    /// `ADDRESS:PORT` or `unix:/PATH`.
    case place
    /// The name of an app for phones of this platform.
    case app(Platform)
    /// A list of single values, or one of them alone.
    case list
    /// A list of mappings, each with the same settings.
    case entries
    /// A mapping of settings.
    case group

    /// All values that are allowed; `nil`: others are, too.
    package var choices: [String]? {
        if case .choice(let choices) = self { choices } else { nil }
    }

    /// The unit of a number; empty: none.
    package var unit: String {
        switch self {
        case .whole(_, let unit), .fraction(_, let unit): unit
        case .choice, .text, .path, .secretFile, .place, .app, .list, .entries, .group: ""
        }
    }

    /// The least and the greatest number, as a file has them; `nil`: it is no number.
    package var bounds: (least: String, most: String)? {
        switch self {
        case .whole(let range, _): ("\(range.lowerBound)", "\(range.upperBound)")
        case .fraction(let range, _): (short(range.lowerBound), short(range.upperBound))
        case .choice, .text, .path, .secretFile, .place, .app, .list, .entries, .group: nil
        }
    }
}

/// The facts about a setting that its value does not show.
package struct SettingTraits: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// A running node takes over another value.
    package static let live = SettingTraits(rawValue: 1)
    /// The console has a field for it.
    package static let inConsole = SettingTraits(rawValue: 2)
    /// The console has a field for it that is folded at first: few need it.
    package static let foldedInConsole: SettingTraits = [.inConsole, SettingTraits(rawValue: 4)]
}

/// A section of the settings, from which its owner reads the keys.
///
/// A setting is declared by the call that reads it. That has all there is to say: the key, the kind, the usual value, what is
/// allowed. A fault leaves the usual value.
package protocol SettingsSection {
    /// Notes traits of the setting that is read next.
    func mark(_ traits: SettingTraits) -> Self
    /// Reads a single value.
    ///
    /// - Parameters:
    ///   - usual: The value that holds without the setting, as a file has it.
    ///   - parse: Returns the value that a text stands for; `nil` for what is not allowed.
    func value<Value>(
        _ name: String, _ value: inout Value, _ kind: SettingKind, usual: String, expecting expected: String,
        parse: (String) -> Value?)
    /// Reads a list of single values; empty: nothing was set. `nil` for anything else.
    func words(_ name: String) -> [String]?
    /// Reads a single value or a list of them; empty: nothing was set. `nil` for anything else.
    func oneOrMore(_ name: String) -> [String]?
    /// Reads a file's name; relative ones are relative to the configuration.
    func path(_ name: String, _ value: inout String)
    /// Reads the name of a file that holds a key or a password.
    func credential(_ name: String, _ value: inout String)
    /// Returns the path of a file in the state directory.
    func stateFile(_ name: String) -> String
    /// Whether the node's own connections go through the tor that publishes its address.
    var goesThroughTor: Bool { get }
    func fault(_ name: String, _ problem: String)
}

extension SettingsSection {
    /// Reads a text of a form of its own.
    package func text(
        _ name: String, _ value: inout String, expecting expected: String, parse: (String) -> String?
    ) {
        self.value(name, &value, .text, usual: value, expecting: expected, parse: parse)
    }

    package func text(_ name: String, _ value: inout String, _ kind: SettingKind = .text) {
        self.value(
            name, &value, kind, usual: value,
            expecting: "text without line breaks, up to 4096 characters"
        ) {
            $0.utf8.count <= 4096 && $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? $0 : nil
        }
    }

    /// Reads a name for other programs: no blank, nothing that a header, a log or a label would have to
    /// quote. Empty: nothing was set.
    package func identifier(_ name: String, _ value: inout String, _ kind: SettingKind = .text) {
        self.value(
            name, &value, kind, usual: value, expecting: "letters, digits, '.', '-' and '_', up to 255"
        ) { text in
            text.utf8.count <= 255 && text.consists(of: identifierCharacter) ? text : nil
        }
    }

    package func integer(_ name: String, _ value: inout Int, in range: ClosedRange<Int>, unit: String = "") {
        self.value(
            name, &value, .whole(range, unit: unit), usual: "\(value)",
            expecting:
                unit == "seconds"
                ? "whole seconds from \(range.lowerBound) to \(range.upperBound)"
                : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        ) { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    package func seconds(_ name: String, _ value: inout Duration, in range: ClosedRange<Int>) {
        var seconds = Int(value.components.seconds)
        integer(name, &seconds, in: range, unit: "seconds")
        value = .seconds(seconds)
    }

    package func number(
        _ name: String, _ value: inout Double, in range: ClosedRange<Double>, unit: String = ""
    ) {
        self.value(
            name, &value, .fraction(range, unit: unit), usual: short(value),
            expecting: "a number from \(range.lowerBound) to \(range.upperBound)"
        ) { Double($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    package func flag(_ name: String, _ value: inout Bool) {
        self.value(
            name, &value, .choice(["true", "false"]), usual: "\(value)", expecting: "true or false"
        ) { Bool($0) }
    }

    package func choice<Value: RawRepresentable & CaseIterable>(_ name: String, _ value: inout Value)
    where Value.RawValue == String {
        let allowed = Value.allCases.map(\.rawValue)
        self.value(
            name, &value, .choice(allowed), usual: value.rawValue,
            expecting: "one of \(allowed.joined(separator: ", "))"
        ) { Value(rawValue: $0) }
    }

    /// Reads the origin of a gateway: `https://HOST[:PORT]`, without a slash at its end.
    package func origin(_ name: String, _ value: inout String) {
        text(name, &value, expecting: "https://HOST[:PORT]") { text in
            let origin = text.hasSuffix("/") ? String(text.dropLast()) : text
            return (try? GatewayURL(origin))?.path == "/" && !origin.hasSuffix("/") ? origin : nil
        }
    }

    /// Reads a URL, `https://HOST[:PORT][/PATH]`, or nothing.
    package func url(_ name: String, _ value: inout String) {
        text(name, &value, expecting: "https://HOST[:PORT]/PATH, or nothing") { text in
            text.isEmpty || (try? GatewayURL(text)) != nil ? text : nil
        }
    }
}

private func identifierCharacter(_ byte: UInt8) -> UInt8 {
    ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, ".") | ASCII.equal(byte, "-")
        | ASCII.equal(byte, "_")
}

/// Returns a number as people write it: 2 for 2.0.
private func short(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
}
