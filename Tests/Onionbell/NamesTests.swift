import Foundation
import Testing

/// What whoever reads the code stumbles over.
@Suite struct NamesTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized

    private static let files: [URL] = {
        let all =
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects ?? []
        return all.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }()

    /// Modules are names of types as well, as far as a reader knows.
    @Test func eachTypeHasANameOfItsOwn() throws {
        let rooms = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
        // A feature's room may have several, which Package.swift names.
        let package = try String(
            contentsOf: Self.sources.appending(path: "../Package.swift"), encoding: .utf8)
        let named = package.matches(of: /named: "(\w+)"/).map { String($0.output.1) }
        let modules =
            try rooms.filter { $0 != "Features" }.flatMap { room in
                ["Base", "C", "Core", "Edge", "Programs"].contains(room)
                    ? try FileManager.default.contentsOfDirectory(atPath: Self.sources.path + "/" + room)
                    : [room]
            } + named
        var places: [String: [String]] = Dictionary(
            uniqueKeysWithValues: Set(modules).map { ($0, ["the module"]) })
        let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        for file in Self.files {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                // At the beginning of a line, so in no other type.
                guard line.first != " ", !line.hasPrefix("//") else { continue }
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                guard let kind = words.prefix(4).firstIndex(where: kinds.contains), kind + 1 < words.count
                else {
                    continue
                }
                places[String(words[kind + 1]), default: []].append(file.lastPathComponent)
            }
        }
        #expect(places.count > 500)
        // A program is its module's only way in.
        let programs = ["Onionbell", "Onionbelld", "OnionbellLab"]
        let several = places.filter { $0.value.count > 1 && !programs.contains($0.key) }
        #expect(several.isEmpty, "\(several)")
    }

    /// Each is a member that may be missing as long as its owner is made (`StyleGuide.md`). Their number only goes down.
    @Test func fewMembersAreFilledInLater() throws {
        var places: [String] = []
        for file in Self.files {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where line.contains(/^ +[a-z() ]*var \w+: .*!$/) {
                places.append("\(file.lastPathComponent): \(line)")
            }
        }
        #expect(places.count <= 18, "\(places)")
    }

    /// A method that changes state is named after what it does, and not like a question (`StyleGuide.md`).
    @Test func noMutatingMethodIsNamedLikeAQuestion() throws {
        var places: [String] = []
        for file in Self.files {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where line.contains(/mutating func `?(is|may|has|wants|can|should|needs)[A-Z]/) {
                places.append("\(file.lastPathComponent): \(line)")
            }
        }
        #expect(places.isEmpty, "\(places)")
    }

    /// It shows what is typed, and leaves to the shell what is pasted behind the first line.
    @Test func noSecretIsReadByTheLine() throws {
        for file in Self.files where file.lastPathComponent != "Interview.swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("readLine(") && !text.contains("getpass("), "\(file.lastPathComponent)")
        }
    }

    /// A new case of our own enums is an error of the compiler in each place that must decide about it (`StyleGuide.md`). The
    /// kinds of a JSON value are not ours.
    @Test func noSwitchOverOurCasesHasADefault() throws {
        let kindsOfJSON: Set<Substring> = ["string", "integer", "number", "bool", "array", "object", "null"]
        var places: [String] = []
        for file in Self.files {
            // The indents of the switches around a line, and whether one of their labels is a case of ours.
            var open: [(indent: Int, isOurs: Bool)] = []
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let indent = line.prefix { $0 == " " }.count
                let text = line.dropFirst(indent)
                guard !text.hasPrefix("//") else { continue }
                let isLabel = text.hasPrefix("case ") || text.hasPrefix("default:")
                open.removeAll { isLabel ? $0.indent > indent : $0.indent >= indent }
                guard isLabel else { continue }
                if open.last?.indent != indent { open.append((indent, false)) }
                if let label = text.wholeMatch(of: /case (let )?\.(\w+).*/) {
                    if !kindsOfJSON.contains(label.2) { open[open.count - 1].isOurs = true }
                } else if text.contains(/^(default|case _\??|case \(_(, _)*\)):/), open.last?.isOurs == true {
                    places.append("\(file.lastPathComponent): \(text)")
                }
            }
        }
        #expect(places.isEmpty, "\(places)")
    }

    @Test func eachFileCanBeReadAtOnce() throws {
        for file in Self.files {
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 351, "\(file.lastPathComponent)")
        }
    }
}
