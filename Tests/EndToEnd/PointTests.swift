import Client
import Foundation
import HTTP1
import Lab
import LabParts
import Pointing
import Reactor
import Testing
import Vectors

/// `onionbell point`: what it prints and writes reaches the node through a real tor.
@EventLoop
@Suite(.serialized) struct PointTests {
    /// tor's lines as Bisq 1 makes them of the option (`NewTor.java`): split at commas, then at the first blank.
    private func torrcLines(ofProperties text: String) throws -> [String] {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("torrcOptions=") })
        return line.dropFirst("torrcOptions=".count).split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    private func point(_ arguments: [String]) throws -> CommandResult {
        try run([program, "point"] + arguments)
    }

    @Test func aRequestToTheBuiltInAddressReachesTheNode() async throws {
        let stage = try await NodeTests.Stage()
        let printed = try point(["haveno", "--config", stage.configuration])
        #expect(printed.status == 0, "\(printed.errors)")
        let mapped = try #require(
            printed.output.split(separator: "\n").first { $0.hasPrefix("    MapAddress ") }
        ).dropFirst(4)
        let directory = FileManager.default.temporaryDirectory.path + "/bisq-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let written = try point(["bisq1", "--config", stage.configuration, "--write", directory])
        #expect(written.status == 0, "\(written.errors)")
        let lines = try torrcLines(
            ofProperties: String(contentsOfFile: directory + "/bisq.properties", encoding: .utf8))

        let tor = try await SharedTorNetwork.network().startTor([String(mapped)] + lines)
        let socks = try #require(tor.socks)
        let phone = try Phone.new(.ios, descriptor: "iPhone X")
        for client in [PointedClient.bisq1, .haveno] {
            let waiter = stage.world.nextPush(to: phone)
            let request = try BisqSender(to: phone.pairingToken).httpRequest(
                for: .init(sentDate: 1, title: client.name, message: "", kind: .trade))
            let answer = try await HTTPExchange.answer(
                to: request, host: client.builtInAddress,
                by: .tor(socks: socks, onion: client.builtInAddress, port: 80), attemptTimeout: .seconds(10))
            #expect(answer.status == 200)
            #expect(answer.body == Array("success".utf8))
            #expect(await waiter.wait(for: theRun) != nil)
        }
        await tor.kill()
        await stage.close()
    }

    @Test func theFileKeepsItsModeAndItsOtherLines() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/bisq-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = directory + "/bisq.conf"
        let before = "application { devMode = false }\n"
        try before.write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let address = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        let written = try point(["bisq2", "--to", address, "--write", directory])
        #expect(written.status == 0, "\(written.errors)")
        #expect(written.output.contains("  +application.bondedRoles.mobileNotifications.providers="))
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix(before))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        #expect(try point(["bisq2", "--undo", directory]).status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["bisq.conf"])
    }

    /// A file that an earlier run left when it was killed between making and naming it is in nobody's way.
    @Test func aRunThatWasKilledHoldsUpNoOther() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/bisq-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try "half".write(
            toFile: directory + "/bisq.properties.onionbell", atomically: true, encoding: .utf8)
        let address = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        let written = try point(["bisq1", "--to", address, "--write", directory])
        #expect(written.status == 0, "\(written.errors)")
        #expect(FileManager.default.fileExists(atPath: directory + "/bisq.properties"))
    }

    /// The directory that a container has as /data.
    @Test func theFileOfAContainerIsWrittenAndTakenBack() throws {
        let address = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        let directory = FileManager.default.temporaryDirectory.path + "/onionbell-point-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = directory + "/bisq.conf"
        try "application.x=1\n".write(toFile: file, atomically: true, encoding: .utf8)
        let printed = try point(["bisq2-docker", "--to", address, "--fallback"])
        #expect(
            printed.output.contains("onionbell point bisq2-docker --to \(address) --fallback --write DIR"))
        let written = try point(["bisq2-docker", "--to", address, "--fallback", "--write", directory])
        #expect(written.status == 0, "\(written.errors)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("application.x=1\n") && text.contains("http://\(address):8021"))
        #expect(text.contains("6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid"))
        #expect(try point(["bisq2-docker", "--undo", directory]).status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "application.x=1\n")
    }

    @Test func wrongWordsAreToldWithTheirExitStatus() throws {
        let address = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"
        let wrong = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wie.onion"
        #expect(try point(["bisq1", "--to", wrong]).status == 64)
        // A client that was sent to its own relay would stay where it is.
        for client in [PointedClient.bisq1, .bisq2] {
            #expect(try point(["bisq1", "--to", client.builtInAddress]).status == 64)
        }
        #expect(try point(["bisq1", "--to", address, "--fallback"]).status == 64)
        #expect(try point(["--to", address, "--write", "/tmp"]).status == 64)
        let nowhere = try point(["bisq1", "--to", address, "--write", "/nowhere"])
        #expect(nowhere.status == 66 && nowhere.errors.contains("name the data directory of Bisq 1"))
        #expect(try point(["bisq1", "--undo", "/nowhere"]).status == 66)
        // Its file is named easily in its place.
        let file = FileManager.default.temporaryDirectory.path + "/bisq-\(UUID().uuidString).properties"
        try "a=b\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let named = try point(["bisq1", "--to", address, "--write", file])
        #expect(named.status == 66 && named.errors.contains("name the data directory of Bisq 1"), "\(named)")
    }
}
