import Foundation
import Node
import Terminal
import Testing

@testable import Onionbell

/// The doctor judges for the user of the node, whoever asks.
@Suite struct NodeUserTests {
    @Test func aProcessHasItsUserAndGroups() throws {
        let status = "Name:\tonionbelld\nUid:\t0\t104\t104\t104\nGid:\t0\t112\t112\t112\nGroups:\t112 115 \n"
        #expect(NodeUser(status: status) == NodeUser(id: 104, groups: [112, 115]))
        #expect(NodeUser(status: "Name:\tx\n") == nil)
        #expect(NodeUser(process: getpid())?.id == geteuid())
    }

    @Test func aUnitNamesItsUserAndGroups() {
        let root = NodeUser(unit: ["User": "root", "Group": "", "SupplementaryGroups": "tty 4711"])
        #expect(root?.id == 0 && root?.groups.contains(4711) == true)
        #expect(NodeUser(unit: ["User": "nobody-of-this-name"]) == nil)
        #expect(NodeUser(unit: [:]) == nil)
    }

    @Test func aUnitThatEndsAtEachStartIsAFailureWithItsLastWords() {
        var unit = NodeUnit(
            properties: NodeUnit.properties(of: [
                "LoadState=loaded", "ActiveState=activating", "SubState=auto-restart", "NRestarts=14",
                "User=",
            ]))
        // Nothing is there of which the advice could speak.
        #expect(unit.finding?.advice?.contains("that line") == false)
        unit.lastError = "onionbell: tor: permission denied"
        #expect(unit.finding?.verdict == .fail)
        #expect(
            unit.finding?.words.contains("restarted 14 times): onionbell: tor: permission denied") == true)
        #expect(NodeUnit(properties: ["ActiveState": "active", "SubState": "running"]).finding == nil)
    }

    @Test func whatARestartKeepsIsSaid() {
        func finding(_ kept: String, _ mode: Settings.Tor.Mode, state: String = "active") -> Finding? {
            NodeUnit(properties: ["ActiveState": state, "NFileDescriptorStore": kept]).restartFinding(mode)
        }
        #expect(finding("9", .instance)?.words.contains("whoever connects meanwhile waits") == true)
        #expect(finding("9", .own)?.words.contains("With tor.mode: instance tor stays") == true)
        #expect(finding("9", .own)?.verdict == .pass)
        #expect(finding("0", .instance)?.verdict == .warn)
        #expect(finding("", .instance)?.verdict == .warn)
        #expect(finding("0", .own, state: "inactive") == nil)
    }

    /// Tor's socket as Debian has it: for root and the group debian-tor.
    @Test func torsSocketIsForItsGroup() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/onionbell-control-\(UUID())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let path = directory + "/control"
        try "".write(toFile: path, atomically: false, encoding: .utf8)
        chmod(directory, 0o755)
        chmod(path, 0o660)
        let group = try #require(
            FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountID] as? gid_t)
        let stranger = NodeUser(id: 4711, groups: [4712])
        let member = NodeUser(id: 4711, groups: [4712, group])
        #expect(
            Judgement.control(path, for: stranger, isInstance: false)?.advice?.contains("adduser") == true)
        #expect(Judgement.control(path, for: member, isInstance: false) == nil)
        #expect(Judgement.control(path, for: NodeUser(id: 0, groups: []), isInstance: false) == nil)
        chmod(directory, 0o700)
        #expect(Judgement.control(path, for: member, isInstance: false) != nil)
        #expect(Judgement.control(directory + "/nothing", for: stranger, isInstance: false) == nil)
    }
}
