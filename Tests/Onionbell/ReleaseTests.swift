import Foundation
import Testing
import Vectors

/// What `Deploy/release` asks of its publisher before it tags or signs. Its checks come before anything is built.
@Suite struct ReleaseTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    /// The script in a repository of its own, which has nothing that could be built.
    private static func release(
        _ publisher: String, changes: String, _ arguments: [String]
    ) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "onionbell-release-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for path in ["Deploy/release", "Sources/Base/Processes/ProcessFacts.swift", "Package.swift"] {
            let target = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: root.appending(path: path), to: target)
        }
        try publisher.write(
            to: folder.appending(path: "Deploy/publisher"), atomically: true, encoding: .utf8)
        try changes.write(to: folder.appending(path: "CHANGELOG.md"), atomically: true, encoding: .utf8)
        // Errors and output in their order.
        return try ProgramRun(
            [
                "/bin/sh", "-c",
                """
                exec 2>&1 && cd "$1" && shift && git init -q && git add . &&
                git -c user.name=a -c user.email=a@example.org commit -q -m a && exec Deploy/release "$@"
                """, "sh", folder.path,
            ] + arguments
        ).text
    }

    private static let asItIs = try! String(
        contentsOf: root.appending(path: "Deploy/publisher"), encoding: .utf8)
    /// Half a year ahead.
    private static let day = Date(timeIntervalSinceNow: 15_000_000).formatted(.iso8601.year().month().day())
    private static let filledIn = """
        # A comment.
        name=Ada B. C.
        mail=ada@example.org
        homepage=https://example.org/onionbell
        contact=https://example.org/onionbell/security
        expires=\(day)

        """
    private static let version = "0.1.0"
    private static let dated = "## \(version), 2026-12-24\n"

    @Test(arguments: [
        (asItIs, dated, "Deploy/publisher: contact"),
        (filledIn.replacing("mail=ada@example.org", with: "mail=ada"), dated, "Deploy/publisher: mail"),
        (filledIn.replacing("name=Ada B. C.", with: "name="), dated, "Deploy/publisher: name"),
        (
            filledIn.replacing("https://example.org/onionbell\n", with: "https://\n"), dated,
            "Deploy/publisher: homepage"
        ),
        (filledIn.replacing("contact=https:", with: "contact=http:"), dated, "Deploy/publisher: contact"),
        (filledIn.replacing(day, with: "2001-01-01"), dated, "expires, ahead"),
        (filledIn.replacing(day, with: "2999-01-01"), dated, "within a year"),
        (filledIn.replacing(day, with: "soon"), dated, "Deploy/publisher: expires"),
        (filledIn, "## \(version), not yet released\n", "CHANGELOG.md"),
    ])
    func whatIsNotFilledInIsNeitherTaggedNorSigned(publisher: String, changes: String, named: String) throws {
        for way in [["--tag"], ["--key", "/dev/null"]] {
            let said = try Self.release(publisher, changes: changes, [Self.version] + way)
            #expect(said.contains("only its publisher can fill in") && said.contains(named), "\(said)")
            #expect(said.contains("neither tagged nor signed") && !said.contains("Making"), "\(said)")
        }
    }

    @Test func aTrialIsMadeAndToldWhatIsMissing() throws {
        let said = try Self.release(Self.asItIs, changes: Self.dated, [Self.version, "--only-here"])
        #expect(said.contains("Deploy/publisher: contact") && said.contains("Making"), "\(said)")
    }

    @Test func whatIsFilledInIsMade() throws {
        let said = try Self.release(
            Self.filledIn, changes: Self.dated, [Self.version, "--tag", "--only-here"])
        #expect(!said.contains("fill in") && said.contains("Making everything once"), "\(said)")
    }

    /// The day is that of the version, which comes later.
    @Test func aCandidateNeedsNoDay() throws {
        let said = try Self.release(
            Self.filledIn, changes: "## \(Self.version), not yet released\n",
            [Self.version + "-rc12", "--tag", "--only-here"])
        #expect(!said.contains("fill in") && said.contains("Making everything once"), "\(said)")
    }

    @Test(arguments: ["", "-rc", "-rc0", "rc1", "-beta1", "~rc1", "-rc1-rc2"])
    func whatIsNoVersionIsRefused(end: String) throws {
        let said = try Self.release(
            Self.filledIn, changes: Self.dated, [(end.isEmpty ? "0.1" : Self.version) + end])
        #expect(said.hasPrefix("Deploy/release 0.1.0") && !said.contains("Making"), "\(said)")
    }
}
