import Gateways
import YAML

/// Reads typed values out of a YAML mapping and the environment, and gathers every fault on the way.
///
/// A value from the environment wins: `ONIONBELL_TOR_MODE` over `tor.mode`.
package final class SettingsReader {
    private(set) var faults: [SettingsFault] = []
    /// Every setting that was asked for, in that order.
    private(set) var settings: [Setting] = []
    /// The sections until everything is read.
    fileprivate var sections: [Section] = []
    /// The values that the file and the environment set, as text, by the full key: `apps[0].topic`.
    private(set) var texts: [String: String] = [:]
    /// The files of secrets, outside of entries of lists, as they are opened.
    private(set) var secretFiles: [(key: String, path: String)] = []
    fileprivate let environment: [String: String]
    /// The state directory as it was read before.
    var stateDirectory = ""
    /// Whether gateways are reached through Tor, as it was read before.
    var goesThroughTor = false
    /// The features whose settings there are.
    let features: Features
    /// The apps as they were read before, and the names of all, also of faulty ones.
    package var apps: [Settings.App] = []
    package var appNames: [String] = []
    /// Relative file names in the configuration are relative to this.
    private let directory: String

    static let prefix = "ONIONBELL_"
    /// No settings: `watch`, `receive` and `bisq-agent` tell a command by them, which may be one of ours.
    private static let otherNames = Set(
        [
            "STATE", "REASON", "ADDRESS", "ID", "TIME", "KIND", "TITLE", "MESSAGE", "TRADE", "SENT", "REPLY",
            "REPLY_TEXT", "REPLY_SENT", "REPLY_COUNTER",
        ].map { prefix + $0 })

    init(environment: [String: String], directory: String, features: Features) {
        self.features = features
        self.environment = environment
        self.directory = directory
    }

    func fault(_ key: String, _ line: Int?, _ problem: String) {
        faults.append(SettingsFault(key: key, line: line, problem: problem))
    }

    func absolute(_ path: String) -> String {
        path.isEmpty || path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }

    /// Returns the path of a credential's file: systemd hands over what lies in ``credentialsDirectory`` beside the
    /// configuration (`LoadCredential=credentials:/etc/onionbell/credentials` makes `credentials_NAME` of `NAME`).
    func credential(_ path: String) -> String {
        let prefix = Self.credentialsDirectory + "/"
        guard let handedOver = environment["CREDENTIALS_DIRECTORY"], path.hasPrefix(prefix),
            !path.dropFirst(prefix.count).contains("/")
        else { return absolute(path) }
        return "\(handedOver)/\(Self.credentialsDirectory)_\(path.dropFirst(prefix.count))"
    }

    package static let credentialsDirectory = "credentials"

    /// Returns the variable that overrides a key.
    static func environmentName(of key: String) -> String {
        prefix + key.uppercased().map { $0 == "." ? "_" : $0 }
    }

    fileprivate func note(_ setting: Setting) { settings.append(setting) }

    fileprivate func note(_ key: String, is text: String) { texts[key] = text }

    fileprivate func note(_ key: String, secretAt path: String) { secretFiles.append((key, path)) }

    /// Refuses the keys that nobody has asked for, in all sections: everything has been read by now.
    func refuseUnknownKeys() {
        for section in sections { section.refuseUnknownKeys() }
        sections = []
    }

    /// Refuses unknown variables: every one with our prefix has been asked for by now, or is a mistake.
    func refuseUnknownEnvironment() {
        let known = settings.compactMap(\.variable)
        for name in environment.keys.sorted()
        where name.hasPrefix(Self.prefix) && !known.contains(name)
            && !Self.otherNames.contains(name) && !faults.contains(where: { $0.key == name })
        {
            let isList = settings.contains { Self.environmentName(of: $0.key) == name && $0.kind != .group }
            let hint =
                isList
                ? "; lists can only be set in the file"
                : hint(at: name, among: known.sorted())
            fault(SettingsFault.shown(name), nil, "no such setting in the environment\(hint)")
        }
    }
}

extension SettingsReader {
    /// A mapping of the file, and what may stand in it.
    package final class Section {
        package let reader: SettingsReader
        let path: String
        private let node: YAMLNode?
        /// Names that were asked for.
        private var known: [String] = []
        /// Whether nobody knows which keys there may be: then all are taken.
        var takesAllKeys = false
        /// Whether settings of the section have names in the environment: those of a list's entries don't.
        private let hasVariables: Bool
        /// The traits of the setting that is read next.
        private var next: SettingTraits = []

        init(_ reader: SettingsReader, path: String = "", node: YAMLNode?, hasVariables: Bool = true) {
            self.reader = reader
            self.path = path
            self.node = node
            self.hasVariables = hasVariables
            reader.sections.append(self)
            if let node, node.entries == nil, !node.isNull {
                reader.fault(path, node.line, "must be a mapping of keys to values")
            }
        }

        func key(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

        package func mark(_ traits: SettingTraits) -> Self {
            next = traits
            return self
        }

        /// Notes a setting as it is read for the first time, and returns its value in the file.
        private func declare(_ name: String, _ kind: SettingKind, usual: String = "") -> YAMLNode? {
            defer { next = [] }
            guard !known.contains(name) else { return node?[name] }
            known.append(name)
            let isSingle = kind != .list && kind != .entries && kind != .group
            reader.note(
                Setting(
                    key: key(name), kind: kind, usual: usual, traits: next,
                    variable: isSingle && hasVariables ? SettingsReader.environmentName(of: key(name)) : nil))
            return node?[name]
        }

        private func override(_ name: String) -> String? {
            hasVariables ? reader.environment[SettingsReader.environmentName(of: key(name))] : nil
        }

        /// Notes a fault of the value under `name`: where that stands, or where it should.
        package func fault(_ name: String, _ problem: String) {
            guard override(name) == nil else {
                return reader.fault(SettingsReader.environmentName(of: key(name)), nil, problem)
            }
            reader.fault(key(name), (node?[name] ?? node)?.line, problem)
        }

        package func section(_ name: String, hasVariables: Bool = true) -> Section {
            Section(reader, path: key(name), node: declare(name, .group), hasVariables: hasVariables)
        }

        func list(_ name: String) -> [Section] {
            guard let list = declare(name, .entries), !list.isNull else { return [] }
            guard let items = list.items else {
                fault(name, "must be a list")
                return []
            }
            return items.enumerated().map {
                Section(reader, path: "\(key(name))[\($0.offset)]", node: $0.element, hasVariables: false)
            }
        }

        /// Returns the value's text; `nil` when nothing was set, or no single value, which is a fault.
        private func scalar(_ name: String, _ node: YAMLNode?) -> String? {
            if let text = override(name) {
                reader.note(key(name), is: text)
                return text
            }
            guard let node, !node.isNull else { return nil }
            guard let text = node.text else {
                fault(name, "must be a single value")
                return nil
            }
            reader.note(key(name), is: text)
            return text
        }

        package func value<Value>(
            _ name: String, _ value: inout Value, _ kind: SettingKind, usual: String,
            expecting expected: String, parse: (String) -> Value?
        ) {
            guard let text = scalar(name, declare(name, kind, usual: usual)) else { return }
            let hasWrongOnion = refuseWrongOnion(name, text)
            if let parsed = parse(text) {
                value = parsed
            } else if !hasWrongOnion {
                fault(name, "\"\(SettingsFault.shown(text))\" is not allowed; \(expected)")
            }
        }

        package func path(_ name: String, _ value: inout String) {
            text(name, &value, .path)
            value = reader.absolute(value)
        }

        package func credential(_ name: String, _ value: inout String) {
            text(name, &value, .secretFile)
            value = reader.credential(value)
            if hasVariables, !value.isEmpty { reader.note(key(name), secretAt: value) }
        }

        package func stateFile(_ name: String) -> String { "\(reader.stateDirectory)/\(name)" }

        /// The features that the program was built with.
        var features: Features { reader.features }

        package var goesThroughTor: Bool { reader.goesThroughTor }

        /// Refuses a wrong onion address, and returns whether it did. A wrong letter costs minutes of tries,
        /// whatever the address is for.
        @discardableResult
        private func refuseWrongOnion(_ name: String, _ text: String) -> Bool {
            guard let wrong = OnionName.wrong(in: text) else { return false }
            fault(name, "\(SettingsFault.shown(wrong)) is no onion address: a letter is wrong or missing")
            return true
        }

        /// Returns the key of this section that was most likely meant as another one; `nil`: there is none. Asked before
        /// others are read.
        func keyLike(_ name: String) -> String? {
            let others = (node?.entries ?? []).compactMap(\.key.text).filter { !known.contains($0) }
            return nearestName(to: name, among: others)
        }

        /// Refuses the settings of a feature that the program was built without.
        ///
        /// - Parameter section: The name of its section; `nil`: the feature's.
        func refuseLeftOut(_ name: String, section: String? = nil) {
            let section = section ?? name
            known.append(section)
            guard let node = node?[section] else { return }
            reader.fault(key(section), node.line, "this onionbelld was built without \(name)")
        }

        /// Refuses settings of a feature that the program was built without, in a section that has others too.
        func refuseLeftOut(_ name: String, keys: [String]) {
            known += keys
            for key in keys where node?[key] != nil || override(key) != nil {
                fault(key, "this onionbelld was built without \(name)")
            }
        }

        fileprivate func refuseUnknownKeys() {
            for entry in takesAllKeys ? [] : node?.entries ?? [] {
                let name = entry.key.text ?? "?"
                guard !known.contains(name) else { continue }
                let hint = nearestName(to: name, among: known).map { "; did you mean \($0)?" }
                reader.fault(
                    key(SettingsFault.shown(name)), entry.key.line,
                    "unknown key" + (hint ?? "; known are \(known.joined(separator: ", "))"))
            }
        }

        /// Reads the items of a list of single values, which has no name in the environment; empty where
        /// nothing was set, `nil` for anything else.
        package func words(_ name: String) -> [String]? { words(name, usual: "[]") }

        private func words(_ name: String, usual: String) -> [String]? {
            guard let node = declare(name, .list, usual: usual), !node.isNull else { return [] }
            let items = node.items?.map(\.text)
            let words = items?.compactMap(\.self)
            for word in words ?? [] { refuseWrongOnion(name, word) }
            reader.note(key(name), is: (words ?? []).joined(separator: "\n"))
            return words?.count == items?.count ? words : nil
        }

        /// Reads a single value or a list of them, which has no name in the environment; empty where nothing
        /// was set, `nil` for anything else.
        package func oneOrMore(_ name: String) -> [String]? {
            guard let text = node?[name]?.text else { return words(name, usual: "") }
            _ = declare(name, .list)
            refuseWrongOnion(name, text)
            reader.note(key(name), is: text)
            return text.isEmpty ? [] : [text]
        }

        /// Reads the numbers of a list, which has no name in the environment.
        func ports(_ name: String, _ value: inout [UInt16]) {
            guard let node = declare(name, .list, usual: "\(value)"), !node.isNull else { return }
            let ports = node.items?.map { $0.text.flatMap { UInt16($0) } ?? 0 } ?? [0]
            reader.note(key(name), is: "\(ports)")
            guard !ports.contains(0), Set(ports).count == ports.count else {
                return fault(name, "must be a list of ports, 1 to 65535, each once: [80, 8021]")
            }
            value = ports
        }
    }
}

extension SettingsReader.Section: SettingsSection {}
