import Foundation
import Lab
import LabParts
import Reactor
import Testing

/// `onionbell doctor --report`; and `onionbell status --check`, by which a container's health is told: 1 is for what a restart mends, and for nothing else.
@EventLoop
@Suite struct StatusCheckTests {
    private func check(_ configuration: String) async throws -> CommandResult {
        try await Task.detached {
            try run([program, "status", "--check", "--config", configuration])
        }.value
    }

    /// Without a network its own health is red: no restart would help.
    @Test func aNodeThatWaitsForTheNetworkIsAlive() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        try await until { try stage.health()["checks"]?["tor"]?["ok"]?.bool == true }
        #expect(try !stage.isWell("onion"))
        let result = try await check(stage.configuration)
        #expect(result.status == 0 && result.output.contains("the node runs, and its tor"), "\(result)")
        await stage.node?.stop()
        #expect(try await check(stage.configuration).status == 1, "no node runs")
        await stage.close()
    }

    @Test func aNodeWhoseTorDoesNotComeBackIsNot() async throws {
        let stage = try LoopbackStage()
        let directory = stage.world.directory.path
        let (tor, gone) = (directory + "/tor-program", directory + "/gone")
        try "#!/bin/sh\n[ ! -e '\(gone)' ] || exit 1\nexec tor \"$@\"\n"
            .write(toFile: tor, atomically: true, encoding: .utf8)
        chmod(tor, 0o755)
        try String(contentsOfFile: stage.configuration, encoding: .utf8)
            .replacing("mode: own", with: "mode: own\n  binary: \(tor)")
            .write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        try await stage.start()
        try await until { try stage.health()["checks"]?["tor"]?["ok"]?.bool == true }

        try "".write(toFile: gone, atomically: true, encoding: .utf8)
        _ = try run(["pkill", "-KILL", "-P", "\(try #require(stage.node?.processID))"])
        try await until { try !stage.isWell("tor") }
        let result = try await check(stage.configuration)
        #expect(result.status == 1 && result.errors.contains("tor does not run"), "\(result)")
        await stage.close()
    }

    /// Whoever runs it on a machine of a new kind can show it to anybody.
    @Test func aReportHasTimesAndSizesAndNothingElse() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let configuration = stage.configuration
        let report = try await Task.detached {
            try run([program, "doctor", "--report", "--socks", "127.0.0.1:1", "--config", configuration])
        }.value.output
        for words in [
            "program: onionbell 0.1.0, ", "machine: ", " processors, ", "system: ", "node: runs for ",
            "commits: ",
            "pass configuration, at ", "app 1",
        ] { #expect(report.contains(words), "\(report)") }
        #expect(!report.contains("memory ?") && !report.contains("its tor's not known"), "\(report)")
        for secret in [".onion", stage.world.directory.path, "bisq-remote-ios"] {
            #expect(!report.contains(secret), "\(secret): \(report)")
        }
        await stage.close()
    }
}
