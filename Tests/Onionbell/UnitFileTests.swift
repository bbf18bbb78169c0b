import Foundation
import Testing

@testable import Node

/// The limits of the package's units: what a fault in tor or in the node may take of the machine.
@Suite struct UnitFileTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    /// The values of each directive, in their order.
    private func directives(_ file: String) throws -> [String: [String]] {
        let text = try String(contentsOf: Self.root.appending(path: "Deploy/system/\(file)"), encoding: .utf8)
        var found: [String: [String]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found[String(parts[0]), default: []].append(String(parts[1])) }
        }
        return found
    }

    /// Bytes of a size as systemd reads it.
    private func bytes(_ size: String?) throws -> Int {
        let size = try #require(size)
        let units: [Character: Int] = ["K": 10, "M": 20, "G": 30]
        guard let unit = size.last.flatMap({ units[$0] }) else { return try #require(Int(size)) }
        return try #require(Int(size.dropLast())) << unit
    }

    @Test(arguments: ["onionbell.service", "onionbell-tor.service"])
    func eachUnitIsBounded(file: String) throws {
        let unit = try directives(file)
        #expect(try bytes(unit["MemoryMax"]?.last) <= 3 << 30)
        // Keys and messages don't come to the disk this way.
        #expect(unit["MemorySwapMax"] == ["0"])
        #expect(unit["ProcSubset"] == ["pid"] && unit["ProtectProc"] == ["invisible"])
        #expect(unit["IPAddressDeny"]?.last?.split(separator: " ").contains("multicast") == true)
        #expect(unit["LimitCORE"] == ["0"])
        #expect(try bytes(unit["TasksMax"]?.last) <= 256)
        for directive in [
            "NoNewPrivileges", "PrivateUsers", "PrivateDevices", "PrivateMounts", "MemoryDenyWriteExecute",
        ] {
            #expect(unit[directive] == ["true"], "\(directive)")
        }
        #expect(unit["CapabilityBoundingSet"] == [""] && unit["ProtectSystem"] == ["strict"])
        let calls = try #require(unit["SystemCallFilter"]).joined(separator: " ")
        for group in ["@privileged", "@resources", "@mount", "@debug", "@keyring"] {
            #expect(calls.contains(group))
        }
    }

    /// Memory is taken back before anything is ended, and the article says at how much.
    @Test func theNodeIsSlowedBeforeItIsEnded() throws {
        let unit = try directives("onionbell.service")
        let high = try bytes(unit["MemoryHigh"]?.last)
        #expect(high <= (try bytes(unit["MemoryMax"]?.last)) / 2)
        // The buffers of connections and what waits are bounded by settings below it.
        let sample = try String(
            contentsOf: Self.root.appending(path: "Deploy/onionbell.yaml"), encoding: .utf8)
        let bounds = ["waiting_bytes", "buffer_bytes"].compactMap { name in
            sample.firstMatch(of: try! Regex("\n *\(name): (\\d+)", as: (Substring, Substring).self))
                .flatMap { Int($0.output.1) }
        }
        #expect(bounds.count == 2 && bounds.reduce(0, +) < high)
        let article = try String(
            contentsOf: Self.root.appending(
                path: "Sources/Programs/Onionbell/Onionbell.docc/WhenThingsBreak.md"),
            encoding: .utf8)
        for directive in ["MemoryHigh", "MemoryMax"] {
            let value = try #require(unit[directive]?.last)
            #expect(article.contains("`\(directive)=\(value)`"), "\(directive)")
        }
    }

    /// The console's restart is the node's own end, and no failure.
    @Test func aRestartThatItsOwnerAskedForIsMade() throws {
        let unit = try directives("onionbell.service")
        let status = "\(NodeError.restarting.exitStatus)"
        #expect(unit["SuccessExitStatus"] == [status] && unit["RestartForceExitStatus"] == [status])
        #expect(unit["RestartPreventExitStatus"] == ["\(NodeError.configuration("").exitStatus)"])
        #expect(unit["Restart"] == ["on-failure"])
    }

    /// Tor needs no other service of the machine.
    @Test func torReachesNothingOnTheMachine() throws {
        let unit = try directives("onionbell-tor.service")
        #expect(unit["IPAddressDeny"] == ["localhost link-local multicast"])
        #expect(unit["AppArmorProfile"] == ["-onionbell-tor"])
        #expect(try bytes(unit["MemoryMax"]?.last) == 1 << 30)
    }
}
