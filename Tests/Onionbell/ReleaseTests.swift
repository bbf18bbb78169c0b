import Foundation
import Testing
import Vectors

/// What `Deploy/release` asks of its publisher before it tags or signs. Its checks come before anything is built.
@Suite struct ReleaseTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    /// The script in a repository of its own, which has nothing that could be built.
    private static func release(contact: String?, changes: String, _ arguments: [String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "onionbell-release-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for path in ["Deploy/release", "Sources/Base/Programs/ProcessFacts.swift", "Package.swift"] {
            let target = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: root.appending(path: path), to: target)
        }
        let wellKnown = folder.appending(path: ".well-known")
        try FileManager.default.createDirectory(at: wellKnown, withIntermediateDirectories: true)
        try contact?.write(to: wellKnown.appending(path: "security.txt"), atomically: true, encoding: .utf8)
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

    private static let asItIs = try? String(
        contentsOf: root.appending(path: ".well-known/security.txt"), encoding: .utf8)
    private static let filledIn = """
        Contact: https://example.org/onionbell/security
        Expires: 2999-01-01T00:00:00Z

        """
    private static let version = "0.1.0"
    private static let dated = "## \(version), 2026-12-24\n"

    @Test(arguments: [
        (nil, dated, "Contact"),
        // As CONTRIBUTING.md has it, and no address put in.
        (filledIn.replacing("example.org/onionbell", with: "REPOSITORY"), dated, "REPOSITORY"),
        (filledIn.replacing("2999", with: "2001"), dated, "Expires"),
        (filledIn, "## \(version), not yet released\n", "CHANGELOG.md"),
    ])
    func whatIsNotFilledInIsNeitherTaggedNorSigned(contact: String?, changes: String, named: String) throws {
        for way in [["--tag"], ["--key", "/dev/null"]] {
            let said = try Self.release(contact: contact, changes: changes, [Self.version] + way)
            #expect(said.contains("only its publisher can fill in") && said.contains(named), "\(said)")
            #expect(said.contains("neither tagged nor signed") && !said.contains("Making"), "\(said)")
        }
    }

    /// RFC 9116, section 2.5: both fields are required, so a file without them tells a finder nothing.
    @Test func theContactIsValidOrNotThere() throws {
        guard let contact = Self.asItIs else { return }
        let fields = contact.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(fields.contains { $0.hasPrefix("Contact: https://") || $0.hasPrefix("Contact: mailto:") })
        #expect(fields.filter { $0.hasPrefix("Expires: ") }.count == 1)
        #expect(!contact.contains("REPOSITORY"))
    }

    @Test func aTrialIsMadeAndToldWhatIsMissing() throws {
        let said = try Self.release(contact: nil, changes: Self.dated, [Self.version, "--only-here"])
        #expect(said.contains("security.txt: Contact") && said.contains("Making"), "\(said)")
    }

    @Test func whatIsFilledInIsMade() throws {
        let said = try Self.release(
            contact: Self.filledIn, changes: Self.dated, [Self.version, "--tag", "--only-here"])
        #expect(!said.contains("fill in") && said.contains("Making everything once"), "\(said)")
    }

    /// The day is that of the version, which comes later.
    @Test func aCandidateNeedsNoDay() throws {
        let said = try Self.release(
            contact: Self.filledIn, changes: "## \(Self.version), not yet released\n",
            [Self.version + "-rc12", "--tag", "--only-here"])
        #expect(!said.contains("fill in") && said.contains("Making everything once"), "\(said)")
    }

    @Test(arguments: ["", "-rc", "-rc0", "rc1", "-beta1", "~rc1", "-rc1-rc2"])
    func whatIsNoVersionIsRefused(end: String) throws {
        let said = try Self.release(
            contact: Self.filledIn, changes: Self.dated, [(end.isEmpty ? "0.1" : Self.version) + end])
        #expect(said.hasPrefix("Deploy/release 0.1.0") && !said.contains("Making"), "\(said)")
    }
}
