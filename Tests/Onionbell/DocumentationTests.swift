import ArgumentParser
import Foundation
import Relay
import Testing
import Vectors

@testable import Onionbell

/// What README and articles show is what the program takes and says.
@Suite struct DocumentationTests {
    /// A block of code: where it stands, its language, its text.
    struct Block: CustomTestStringConvertible {
        var file: String
        var language: String
        var text: String

        var testDescription: String { "\(file): \(text.prefix(40))" }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    private static let articles = root.appending(path: "Sources/Programs/Onionbell/Onionbell.docc")

    private static func text(_ url: URL) -> String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }

    private static let blocks: [Block] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: articles.path)) ?? []
        let files =
            names.filter { $0.hasSuffix(".md") }.sorted().map { articles.appending(path: $0) }
            + [root.appending(path: "README.md")]
        return files.flatMap { file in
            let pieces = text(file).components(separatedBy: "```")
            return stride(from: 1, to: pieces.count, by: 2).map { index in
                let lines = pieces[index].split(separator: "\n", omittingEmptySubsequences: false)
                return Block(
                    file: file.lastPathComponent,
                    language: lines[0].trimmingCharacters(in: .whitespaces),
                    text: lines.dropFirst().joined(separator: "\n"))
            }
        }
    }()

    /// The words of each command line that calls the program.
    private static let commands: [(file: String, words: [String])] = blocks.filter {
        ["", "sh"].contains($0.language)
    }.flatMap { block in
        block.text.replacing("\\\n", with: " ").split(separator: "\n").compactMap { line in
            // `<address>` stands for a word.
            var words = shellWords(String(line).replacing(/<[a-z0-9]+>/, with: "WORD"))[...]
            while let word = words.first, word != "onionbell" {
                guard word == "sudo" || word == "-u" || word.contains("=") else { return nil }
                words = words.dropFirst(word == "-u" ? 2 : 1)
            }
            return words.isEmpty ? nil : (block.file, Array(words.dropFirst()))
        }
    }

    /// As a shell cuts a line, without expanding anything; ends at a comment, a pipe or a redirection.
    private static func shellWords(_ line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        var isWord = false
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
                continue
            }
            switch character {
            case "'", "\"":
                quote = character
                isWord = true
            case " ":
                if isWord || !word.isEmpty { words.append(word) }
                (word, isWord) = ("", false)
            case "#" where word.isEmpty: return words
            case "|", "<", ">", "&", ";": return word.isEmpty ? words : words + [word]
            default: word.append(character)
            }
        }
        return isWord || !word.isEmpty ? words + [word] : words
    }

    /// Who adds to an article takes as much out of another.
    @Test func theArticlesTogetherHaveAtMost28000Words() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.articles.path)
        let words = names.filter { $0.hasSuffix(".md") }.map { name in
            // What a tool draws is not written.
            Self.text(Self.articles.appending(path: name))
                .replacing(/(?s)<!-- Deploy\/tools\/rooms -->.*<!-- Deploy\/tools\/rooms -->/, with: "")
                .split(whereSeparator: \.isWhitespace).count
        }
        #expect(words.count > 30)
        #expect(words.reduce(0, +) <= 28_000)
    }

    /// As a forge and a reader of the installed package see them.
    @Test func everyLinkLeadsToAFile() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.articles.path)
        let files =
            names.filter { $0.hasSuffix(".md") }.map { Self.articles.appending(path: $0) }
            + ["README", "CONTRIBUTING", "Speed", "SECURITY", "CHANGELOG"].map {
                Self.root.appending(path: "\($0).md")
            }
        var count = 0
        for file in files {
            let text = Self.text(file)
            #expect(!text.contains("<doc:"), "\(file.lastPathComponent)")
            for link in text.matches(of: #/\]\(([^)\s]+)\)/#).map(\.output.1) where !link.contains("://") {
                let target = link.split(separator: "#")[0]
                count += 1
                #expect(
                    FileManager.default.fileExists(
                        atPath: file.deletingLastPathComponent().appending(path: String(target)).path),
                    "\(file.lastPathComponent): \(link)")
            }
        }
        #expect(count > 60)
    }

    /// As a browser reads them from the disk of a server.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cmark-gfm"),
            "cmark-gfm is not installed"))
    func everyLinkOfTheInstalledPagesLeadsToAFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "onionbell-html-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.run("Deploy/tools/html", folder.path)
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".html")
        }
        #expect(pages.count > 30)
        for page in pages {
            let text = Self.text(folder.appending(path: page))
            #expect(text.contains("<h1>") && !text.contains("@Metadata"), "\(page)")
            for link in text.matches(of: #/(?:href|src)="([^"]+)"/#).map(\.output.1)
            where !link.contains("://") {
                let target = folder.appending(path: String(link)).path
                #expect(
                    !link.hasSuffix(".md") && FileManager.default.fileExists(atPath: target),
                    "\(page): \(link)")
            }
        }
    }

    /// DocC takes a link in its own form, or none: what is left of ours would be dead on its site.
    @Test func everyLinkOfTheSiteIsOneOfDocCs() throws {
        try Self.run("Deploy/tools/docs")
        let source = Self.root.appending(path: ".build/docs-source/Onionbell.docc")
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path)
        where name.hasSuffix(".md") {
            let text = Self.text(source.appending(path: name))
            count += text.matches(of: /<doc:[A-Za-z]+>/).count
            for link in text.matches(of: #/\]\(([^)\s]+)\)/#).map(\.output.1) where !link.contains("://") {
                let picture = source.appending(path: "Resources/\(link).png").path
                #expect(FileManager.default.fileExists(atPath: picture), "\(name): \(link)")
            }
        }
        #expect(count > 60)
    }

    /// - Throws: the last that a script wrote, if it failed.
    private static func run(_ script: String, _ arguments: String...) throws {
        try ProgramRun([root.appending(path: script).path] + arguments).succeeded()
    }

    @Test func everyCommandLineIsOneThatTheProgramTakes() throws {
        #expect(Self.commands.count > 15)
        for (file, words) in Self.commands {
            #expect(throws: Never.self, "\(file): onionbell \(words.joined(separator: " "))") {
                _ = try Onionbell.parseAsRoot(words)
            }
        }
    }

    /// In its help; where it does something, and is not a list of others.
    @Test func everyCommandHasAnExampleThatItTakes() throws {
        var waiting: [any ParsableCommand.Type] = [Onionbell.self]
        var count = 0
        while let command = waiting.popLast() {
            waiting += command.configuration.subcommands
            // Of another program.
            guard command.configuration.subcommands.isEmpty, command != LabForwarding.self,
                command != DemoForwarding.self
            else { continue }
            let name = command.configuration.commandName ?? ""
            let lines = command.configuration.discussion.split(separator: "\n")
            let examples = lines.filter { $0.hasPrefix("Example: onionbell ") }
            #expect(examples.count == 1, "\(name)")
            for example in examples {
                let words = Self.shellWords(String(example.dropFirst("Example: onionbell ".count)))
                #expect(words.contains(name), "\(example)")
                #expect(throws: Never.self, "\(example)") { _ = try Onionbell.parseAsRoot(words) }
                count += 1
            }
        }
        #expect(count > 40)
    }

    @Test func theHelpNamesAKindOfPhoneAsTheOptionTakesIt() {
        #expect(PairCommand.helpMessage(includeHidden: false, columns: 200).contains("default: android)"))
        #expect(WatchCommand.helpMessage(includeHidden: false, columns: 200).contains("default: iOS)"))
    }

    @Test func everySampleOfAConfigurationIsTaken() {
        // Prometheus has its own.
        let samples = Self.blocks.filter { $0.language == "yaml" && !$0.text.hasPrefix("scrape_configs:") }
        #expect(!samples.isEmpty)
        for sample in samples {
            // One may go on with what the one before it has.
            let faults = faults(sample.text).filter {
                !$0.contains("no app has the name") && !$0.contains("needs doors.https")
            }
            #expect(faults == [], "\(sample.file): \(sample.text)")
        }
    }

    @Test func everyReasonWordIsExplained() {
        let article = Self.text(Self.articles.appending(path: "ReasonCodes.md"))
        for reason in Reason.own {
            #expect(article.contains("\n| `\(reason.code)` |"), "\(reason.code)")
        }
    }

    /// Each row of each table, whatever is added.
    @Test func everyReasonCodeHasWhatHelps() {
        let article = Self.text(Self.articles.appending(path: "ReasonCodes.md"))
        var count = 0
        for row in article.split(separator: "\n") where row.hasPrefix("| ") && !row.hasPrefix("| ---") {
            let cells = row.replacing("\\|", with: "").split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 5 && !cells[1...3].contains(""), "\(row)")
            count += 1
        }
        #expect(count > 60)
    }

    @Test(arguments: OwnReason.allCases)
    func everyReasonOfTheNodesOwnIsExplained(reason: OwnReason) {
        #expect(Self.text(Self.articles.appending(path: "ReasonCodes.md")).contains("`\(reason.code)`"))
    }

    /// Reasons of a single gateway stand in the sources behind `reason:`.
    @Test func everyReasonOfAGatewayIsExplained() throws {
        let article = Self.text(Self.articles.appending(path: "ReasonCodes.md"))
        let folder = Self.root.appending(path: "Sources/Edge/Gateways")
        var words: Set<String> = []
        for case let file as URL in FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: nil)!
        where file.pathExtension == "swift" {
            for match in Self.text(file).matches(of: /(refused|blocked|failed)\(reason: "(\w+)"/) {
                words.insert(String(match.output.2))
            }
        }
        #expect(words.count > 3)
        for word in words { #expect(article.contains("`\(word)`"), "\(word)") }
    }

    /// The words by which a gateway's answers are told apart stand in its code between quotation marks.
    @Test(arguments: [
        ("Sources/Edge/Gateways/APNs/APNsAnswer.swift", #""([A-Z][A-Za-z]+)""#),
        ("Sources/Edge/Gateways/WebPush/WebPushAnswer.swift", #""([A-Z][A-Za-z]+)""#),
        ("Sources/Edge/Gateways/Relay/RelayAnswer.swift", #""([A-Z][A-Za-z_]+)""#),
        ("Sources/Edge/Gateways/FCM/FCMAnswer.swift", #""([A-Z]+(?:_[A-Z]+)+|INTERNAL|UNAVAILABLE)""#),
    ])
    func everyWordOfAGatewayIsExplained(file: String, pattern: String) throws {
        let article = Self.text(Self.articles.appending(path: "ReasonCodes.md"))
        let words = Self.text(Self.root.appending(path: file)).matches(of: try Regex(pattern))
            .compactMap { $0.output[1].substring }
        #expect(words.count > 5)
        for word in Set(words) { #expect(article.contains("`\(word)`"), "\(word)") }
    }

    @Test func everyAdviceOfTheDoctorsIsForAWordThatIsExplained() {
        let article = Self.text(Self.articles.appending(path: "ReasonCodes.md"))
        let code = ["APNs/APNsApp", "FCM/FCMApp", "Relay/RelayApp", "WebPush/WebPushApp", "Ntfy/NtfyApp"].map
        {
            Self.text(Self.root.appending(path: "Sources/Edge/Gateways/\($0).swift"))
        }.joined()
        let cases = code.split(separator: "\n").filter { $0.contains("case \"") }
        let words = cases.flatMap { $0.matches(of: #/"(\w+)"/#).map { $0.output.1 } }
        #expect(words.count > 10)
        for word in words { #expect(article.contains("`\(word)`"), "\(word)") }
    }

    /// `Deploy/tools/man/render --article` makes it whenever the pages are made.
    @Test func theArticleAboutSettingsHasEachOfThemAsTheSampleHasIt() throws {
        let made = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).md")
        defer { try? FileManager.default.removeItem(at: made) }
        try Self.run("Deploy/tools/man/render", "--article", made.path)
        let article = Self.text(made)
        let sample = Self.text(Self.root.appending(path: "Deploy/onionbell.yaml"))
        let keys = SampleConfiguration(sample).keys.map { $0.replacing(/\[\d+\]/, with: "[]") }
        let described = article.matches(of: #/\n- `([a-z0-9_.\[\]]+)`: /#).map { String($0.output.1) }
        #expect(keys.filter { !described.contains($0) } == [])
        #expect(described.filter { key in !keys.contains { $0 == key || $0.hasPrefix(key + ".") } } == [])
        for line in sample.split(separator: "\n") where line.drop(while: { $0 == " " }).hasPrefix("# ") {
            let words = line.drop { $0 == " " }.dropFirst(2)
            let flat = article.replacing("\n", with: " ")
            #expect(flat.contains(words), "\(words)")
        }
    }
}
