import Foundation
import Lab
import Reactor
import Testing

/// `onionbell key`, with the built program.
@EventLoop
@Suite struct KeyCommandTests {
    private let world: LabWorld
    private let configuration: String
    private var file: String { world.directory.path + "/key" }
    private var kept: String { world.state + "/onion-key" }

    init() throws {
        world = try LabWorld()
        configuration = try world.configure(tor: ["mode: own"])
    }

    private func key(_ arguments: String...) throws -> CommandResult {
        try run([program, "key"] + arguments + ["--config", configuration])
    }

    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func aKeyGoesOutAndComesBack() async throws {
        let seed = String(repeating: "0123456789abcdef", count: 4)
        try seed.write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try key("show").status == 69)
        #expect(try key("import", file).status == 0)
        #expect(try mode(of: kept) == 0o600)
        #expect(try mode(of: world.state) == 0o700)
        let shown = try key("show")
        #expect(shown.status == 0)
        let address = try #require(shown.output.split(separator: "\n").first)
        #expect(address.hasSuffix(".onion") && address.utf8.count == 62)
        #expect(
            try key("show", "--json").output
                == #"{"address":"\#(address)","file":"\#(kept)"}"# + "\n")

        let exported = file + "-exported"
        let export = try key("export", exported)
        #expect(export.status == 0)
        #expect(try mode(of: exported) == 0o600)
        #expect(try Data(contentsOf: URL(filePath: exported)).count == 96)
        for said in [shown, export] {
            #expect(!said.output.contains("0123") && !said.errors.contains("0123"))
        }
        // One that is there is left as it is.
        #expect(try key("export", exported).status == 73)
        #expect(try key("export", "/dev/stdout").status == 73)

        try FileManager.default.removeItem(atPath: kept)
        #expect(try key("import", exported).status == 0)
        #expect(try key("show").output == shown.output)
        await world.close()
    }

    @Test func aKeyIsNotOverwrittenUnlessAskedForAndThenKeptAside() async throws {
        for (digit, isForced, status) in [("1", false, 0), ("2", false, 69), ("2", true, 0)]
            as [(String, Bool, Int32)]
        {
            try String(repeating: digit, count: 64).write(toFile: file, atomically: false, encoding: .utf8)
            let result = isForced ? try key("import", file, "--force") : try key("import", file)
            #expect(result.status == status, "\(result.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: world.state)
        let aside = try #require(names.first { $0.hasPrefix("onion-key-") })
        let text = try String(contentsOfFile: "\(world.state)/\(aside)", encoding: .utf8)
        #expect(text.contains(String(repeating: "1", count: 64)))
        #expect(try mode(of: "\(world.state)/\(aside)") == 0o600)
        await world.close()
    }

    @Test func whatIsNoKeyOrAnotherAddressIsRefused() async throws {
        try "no key".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try key("import", file).status == 65)
        #expect(try key("import", file + "-none").status == 66)
        try String(repeating: "1", count: 64).write(toFile: file, atomically: false, encoding: .utf8)
        let other = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        try (other + "\n").write(
            toFile: world.directory.path + "/hostname", atomically: false, encoding: .utf8)
        let result = try key("import", file)
        #expect(result.status == 65)
        #expect(result.errors.contains(other) && !result.errors.contains("1111"))
        #expect(!FileManager.default.fileExists(atPath: kept))
        await world.close()
    }

    @Test func notWhileTheNodeRuns() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        try String(repeating: "1", count: 64).write(toFile: file, atomically: false, encoding: .utf8)
        let result = try run([program, "key", "import", file, "--config", stage.configuration])
        #expect(result.status == 69)
        #expect(result.errors.contains("stop it first"))
        #expect(try run([program, "key", "show", "--config", stage.configuration]).status == 0)
        await stage.close()
        await world.close()
    }
}
