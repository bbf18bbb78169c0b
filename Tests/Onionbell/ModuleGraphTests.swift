import Foundation
import Testing
import Vectors

/// The rooms of `Sources` import downwards, and features stand beside each other: what a file imports says so.
@Suite struct ModuleGraphTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized

    /// The rooms of the modules, and for features' modules their features' folders, by what folders of Package.swift's targets
    /// there are.
    private static let (modules, features): ([String: String], [String: String]) = {
        let text =
            (try? String(contentsOf: sources.appending(path: "../Package.swift"), encoding: .utf8)) ?? ""
        var rooms = ["Node": "Node"]
        var features: [String: String] = [:]
        func note(_ room: Substring, _ path: Substring, _ name: Substring?) {
            let parts = path.split(separator: "/")
            guard let last = parts.last else { return }
            rooms[String(name ?? last)] = String(room)
            if room == "Features" { features[String(name ?? last)] = String(parts[0]) }
        }
        for match in text.matches(of: /library\(\s*"([A-Z]\w+)\/([\w\/]+)"(?:, named: "(\w+)")?/) {
            note(match.output.1, match.output.2, match.output.3)
        }
        for match in text.matches(of: /feature\(\s*"([\w\/]+)"(?:, named: "(\w+)")?/) {
            note("Features", match.output.1, match.output.2)
        }
        return (rooms, features)
    }()

    /// The imports of the files below a folder, with the files.
    private static func imports(below folder: String) -> [(file: String, module: String)] {
        let base = sources.appending(path: folder)
        let all = FileManager.default.enumerator(atPath: base.path)?.allObjects ?? []
        return all.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.flatMap { file in
            let text = (try? String(contentsOf: base.appending(path: file), encoding: .utf8)) ?? ""
            return text.matches(of: /(?m)^ *import (\w+)$/).map { ("\(folder)/\(file)", String($0.output.1)) }
        }
    }

    @Test(arguments: [
        ("Base", ["Base"]), ("Core", ["Base", "Core"]), ("Edge", ["Base", "Core", "Edge"]),
        ("Node", ["Base", "Core", "Edge"]),
    ])
    func aRoomImportsNothingAboveIt(room: String, allowed: [String]) {
        let found = Self.imports(below: room)
        #expect(found.count > 50)
        for (file, module) in found {
            guard let other = Self.modules[module] else { continue }
            #expect(allowed.contains(other), "\(file) imports \(module) of \(other)")
        }
    }

    /// `Deploy/tools/rooms --write` makes it anew.
    @Test func theDrawingIsMadeFromTheImports() throws {
        let program = Self.sources.appending(path: "../Deploy/tools/rooms").standardized
        try ProgramRun([program.path, "--check"]).succeeded()
    }

    /// A feature may be left out of a program, so that no other one needs it. What several have in common is no feature.
    @Test func noFeatureImportsAnother() throws {
        let shared: Set = ["PushEndpoints", "Calls"]
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Self.sources.appending(path: "Features").path
        ).filter { $0 != "FeatureList" }
        #expect(folders.count > 4)
        for folder in folders {
            for (file, module) in Self.imports(below: "Features/\(folder)")
            where Self.modules[module] == "Features" {
                #expect(
                    Self.features[module] == folder || shared.contains(module), "\(file) imports \(module)")
            }
        }
    }
}
