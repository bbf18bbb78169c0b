import Foundation
import Testing

/// `README.md`, `CONTRIBUTING.md` and `StyleGuide.md` lead to files that are there, and name all files that a newcomer's change touches.
@Suite struct ContributingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    private static func text(_ path: String) -> String {
        (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }

    /// The Swift files of a folder, by their paths from the root.
    private static func files(below folder: String) -> [String] {
        let base = root.appending(path: folder)
        let all = FileManager.default.enumerator(atPath: base.path)?.allObjects ?? []
        return all.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }

    /// The paths in the first column of the table behind a heading, with NAME filled in.
    private static func table(behind heading: String, name: String) throws -> [String] {
        let text = text("CONTRIBUTING.md")
        let start = try #require(text.range(of: heading)).upperBound
        let rows = text[start...].split(separator: "\n").drop { !$0.hasPrefix("| ---") }.dropFirst()
        return rows.prefix { $0.hasPrefix("|") }.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([^`]+)`/).map {
                String($0.output.1).replacing("NAME", with: name)
            }
        }
    }

    @Test func whatTheyNameIsThere() {
        var count = 0
        for page in ["README.md", "CONTRIBUTING.md", "StyleGuide.md"] {
            for match in Self.text(page).matches(of: /`((?:Sources|Tests|Deploy|\.ci)\/[A-Za-z0-9_+.\/-]+)/)
            where !match.output.1.contains("NAME") {
                count += 1
                let path = Self.root.appending(path: String(match.output.1)).path
                #expect(FileManager.default.fileExists(atPath: path), "\(page): \(match.output.1)")
            }
        }
        #expect(count > 40)
    }

    /// Google's gateway is what a newcomer's would be: no other source names a type of its folder.
    @Test func aGatewayIsAFolderAndTheFilesOfTheTable() throws {
        let touched = try Self.table(behind: "**A new gateway**", name: "FCM")
        #expect(touched.count == 4)
        let folder = "Sources/Edge/Gateways/FCM/"
        let naming = Self.files(below: "Sources").filter {
            !$0.hasPrefix(folder)
                && Self.text($0).contains(
                    /[^A-Za-z]FCM(App|Service|Gateway|Message|Answer|Settings|Probe)[^A-Za-z]/)
        }
        #expect(naming == touched.filter { $0.hasSuffix(".swift") && $0.hasPrefix("Sources/") })
        let silent = touched.filter { !Self.text($0).contains(/fcm|FCM|Google/) }
        #expect(silent == [])
    }

    @Test func aFeatureIsAFolderAndTheFilesOfTheTable() throws {
        let touched = try Self.table(behind: "**A new feature**", name: "WebPush")
        #expect(touched.count == 3)
        let naming = Self.files(below: "Sources").filter {
            !$0.hasPrefix("Sources/Features/WebPushIn/")
                && Self.text($0).contains(/WebPush(Feature|Door|Settings)[^A-Za-z]|import WebPushIn/)
        }
        #expect(Set(naming) == Set(touched.filter { $0.hasPrefix("Sources/") }))
        let silent = touched.filter { !Self.text($0).contains(/[wW]eb_?[pP]ush/) }
        #expect(silent == [])
    }

    /// Whatever asks which engine a store has knows it by name: outside the engines' own folders only what the table lists does.
    @Test func anEngineIsAFolderAndTheFilesOfTheTable() throws {
        let touched = try Self.table(behind: "**A new storage engine**", name: "SQLite")
        #expect(touched.count == 6)
        let persistence = "Sources/Edge/Persistence/"
        let engines = ["\(persistence)SQLite/", "Sources/Features/Database/"]
        // The laboratory runs a database of its own.
        let own = engines + ["Sources/Lab/", "Sources/Programs/OnionbellLab/"]
        let naming = Self.files(below: "Sources").filter { path in
            guard !own.contains(where: path.hasPrefix) else { return false }
            let text = Self.text(path)
            return text.contains(/[sS][qQ][lL]ite|[pP]ostgre[sS]|libpq|PRAGMA/)
                || text.contains(/Database(Feature|Findings|Commands)/)
                || path.hasPrefix(persistence)
                    && text.contains(/(StoreFile|FileRun|Database[A-Z]\w+)[^A-Za-z]/)
        }
        #expect(Set(naming) == Set(touched.filter { $0.hasPrefix("Sources/") }))
        for engine in engines {
            #expect(Self.files(below: engine).count > 4)
        }
    }

    /// An engine to copy: five files, one for each part that the steps name.
    @Test func theSmallestEngineIsWhole() {
        let folder = "Tests/MemoryStore"
        let parts = ["Engine", "Connection", "Statement", "Dialect", "Tables"]
        #expect(Set(Self.files(below: folder)) == Set(parts.map { "\(folder)/Memory\($0).swift" }))
        for path in Self.files(below: folder) { #expect(!Self.text(path).contains("@testable"), "\(path)") }
    }

    /// What is to be copied has the parts that the steps name, each in a file of its own.
    @Test(arguments: [
        ("Gateways", ["App", "Service", "Request", "Answer", "Gateway", "GatewayTests"]),
        ("Features", ["Feature", "Door", "DoorSettings", "Message", "Receipt", "DoorTests"]),
    ])
    func aSkeletonIsWhole(module: String, parts: [String]) {
        let folder = "Tests/\(module)/Skeleton"
        #expect(Set(Self.files(below: folder)) == Set(parts.map { "\(folder)/Skeleton\($0).swift" }))
        for path in Self.files(below: folder) {
            // What is copied needs no more of the module than what the module has, and one line less.
            let imports = Self.text(path).matches(of: /@testable import (\w+)\n/).map { String($0.output.1) }
            #expect(imports.allSatisfy { $0 == module } && imports.count <= 1, "\(path)")
        }
    }
}
