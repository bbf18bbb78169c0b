import Reactor
import Yams

/// Reads typed values out of a YAML mapping and the environment, and gathers every fault on the way.
///
/// A value from the environment wins: `ONIONBELL_TOR_MODE` over `tor.mode`.
final class SettingsReader {
    private(set) var faults: [SettingsFault] = []
    private let environment: [String: String]
    private var environmentNames: Set<String> = []
    /// Relative file names in the configuration are relative to this.
    private let directory: String

    static let prefix = "ONIONBELL_"
    /// Of the environment, but no setting.
    private static let otherNames: Set<String> = ["ONIONBELL_CONFIG"]

    init(environment: [String: String], directory: String) {
        self.environment = environment
        self.directory = directory
    }

    func fault(_ key: String, _ line: Int?, _ problem: String) {
        faults.append(SettingsFault(key: key, line: line, problem: problem))
    }

    func absolute(_ path: String) -> String {
        path.isEmpty || path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }

    /// Every variable with our prefix has been asked for by now, or is a mistake.
    func refuseUnknownEnvironment() {
        for name in environment.keys.sorted()
        where name.hasPrefix(Self.prefix) && !environmentNames.contains(name)
            && !Self.otherNames.contains(name)
        {
            let hint = nearestName(to: name, among: environmentNames).map { "; did you mean \($0)?" } ?? ""
            fault(name, nil, "no such setting in the environment\(hint)")
        }
    }

    /// A mapping of the file, and what may stand in it.
    final class Section {
        let reader: SettingsReader
        let path: String
        private let node: Node?
        private var known: [String] = []
        /// Lists have no names in the environment.
        private let isInList: Bool

        init(_ reader: SettingsReader, path: String = "", node: Node?, isInList: Bool = false) {
            self.reader = reader
            self.path = path
            self.node = node
            self.isInList = isInList
            if let node, node.mapping == nil, !node.isNull {
                reader.fault(path, node.mark?.line, "must be a mapping of keys to values")
            }
        }

        func key(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

        private func child(_ name: String) -> Node? {
            known.append(name)
            return node?.mapping?[name]
        }

        func section(_ name: String) -> Section { Section(reader, path: key(name), node: child(name)) }

        func list(_ name: String) -> [Section] {
            guard let list = child(name), !list.isNull else { return [] }
            guard let items = list.sequence else {
                reader.fault(key(name), list.mark?.line, "must be a list")
                return []
            }
            return items.enumerated().map {
                Section(reader, path: "\(key(name))[\($0.offset)]", node: $0.element, isInList: true)
            }
        }

        /// The value's text and where it stands; `nil` when nothing was set.
        private func scalar(_ name: String) -> (text: String, line: Int?)? {
            let node = child(name)
            if !isInList {
                let variable = SettingsReader.prefix + key(name).uppercased().map { $0 == "." ? "_" : $0 }
                reader.environmentNames.insert(variable)
                if let text = reader.environment[variable] { return (text, nil) }
            }
            guard let node, !node.isNull else { return nil }
            guard let scalar = node.scalar else {
                reader.fault(key(name), node.mark?.line, "must be a single value")
                return nil
            }
            return (scalar.string, node.mark?.line)
        }

        func value<Value>(
            _ name: String, default fallback: Value, expecting expected: String, parse: (String) -> Value?
        ) -> Value {
            guard let (text, line) = scalar(name) else { return fallback }
            guard let value = parse(text) else {
                reader.fault(key(name), line, "\"\(text)\" is not allowed; \(expected)")
                return fallback
            }
            return value
        }

        func text(_ name: String, default fallback: String = "") -> String {
            scalar(name)?.text ?? fallback
        }

        func path(_ name: String, default fallback: String = "") -> String {
            reader.absolute(text(name, default: fallback))
        }

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
            .seconds(integer(name, default: Int(fallback.components.seconds), in: range))
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

        func url(_ name: String, default fallback: String, mayBeEmpty: Bool = false) -> String {
            value(name, default: fallback, expecting: "https://HOST[:PORT]") { text in
                if text.isEmpty && mayBeEmpty { return text }
                return text.hasPrefix("https://") && text.count > 8 || text.hasPrefix("http://") ? text : nil
            }
        }

        func ports(_ name: String, default fallback: [UInt16]) -> [UInt16] {
            guard let node = child(name), !node.isNull else { return fallback }
            let ports = node.sequence?.map { $0.scalar.flatMap { UInt16($0.string) } ?? 0 } ?? [0]
            guard !ports.contains(0) else {
                reader.fault(key(name), node.mark?.line, "must be a list of ports, 1 to 65535: [80, 8021]")
                return fallback
            }
            return ports
        }

        var line: Int? { node?.mark?.line }

        /// To be called when all keys have been asked for: whatever else stands there is a mistake.
        func refuseUnknownKeys() {
            for (keyNode, _) in node?.mapping ?? [:] {
                let name = keyNode.scalar?.string ?? "?"
                guard !known.contains(name) else { continue }
                let hint = nearestName(to: name, among: known).map { "; did you mean \($0)?" }
                reader.fault(
                    key(name), keyNode.mark?.line,
                    "unknown key" + (hint ?? "; known are \(known.joined(separator: ", "))"))
            }
        }
    }
}

extension Node {
    /// `key:` with nothing behind it, `~` or `null`.
    fileprivate var isNull: Bool {
        tag == Tag(.null) || (scalar?.string.isEmpty == true && scalar?.style == .plain)
    }
}
