import Foundation
import Glibc
import Lab
import Reactor
import Testing

/// The lab's PostgreSQL, a real one.
@EventLoop
@Suite(.serialized) struct LabDatabaseTests {
    @Test func whatItHasOutlivesAnEndWithoutWarning() async throws {
        let database = try await LabDatabase.start(settings: ["max_connections=7"])
        try await database.query("CREATE TABLE thing (number INTEGER, name TEXT)")
        try await database.query("INSERT INTO thing VALUES (1, 'one'), (2, 'two')")
        #expect(try await database.query("SHOW max_connections") == ["7"])
        let process = try #require(database.processID)
        await database.end(by: SIGQUIT)
        #expect(kill(process, 0) == -1)
        await #expect(throws: LabError.self) { try await database.query("SELECT 1") }
        try await database.startAgain()
        #expect(try await database.query("SELECT * FROM thing ORDER BY 1") == ["1|one", "2|two"])
        let directory = try #require(database.url.split(separator: "=").last)
        await database.stop()
        #expect(!FileManager.default.fileExists(atPath: String(directory)))
    }

    @Test func theNewestVersionThatIsWholeIsTaken() async throws {
        let directory = try LabDirectory()
        #expect(throws: LabError.missing("PostgreSQL", package: "postgresql")) {
            try LabDatabase.programs(under: directory.path + "/none")
        }
        #expect(throws: LabError.missing("PostgreSQL", package: "postgresql")) {
            try LabDatabase.programs(under: directory.path)
        }
        for (version, programs) in [
            (9, ["initdb", "postgres"]), (15, ["initdb", "postgres"]), (17, ["psql"]),
        ] {
            let path = "\(directory.path)/\(version)/bin"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for name in programs { symlink("/bin/true", "\(path)/\(name)") }
        }
        #expect(try LabDatabase.programs(under: directory.path) == "\(directory.path)/15/bin")
        #expect(
            LabError.missing("PostgreSQL", package: "postgresql").description
                == "PostgreSQL is not installed: apt install postgresql")
        await directory.remove()
    }
}
