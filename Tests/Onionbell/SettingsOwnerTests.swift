import Foundation
import Testing

@testable import Onionbell
@testable import Terminal

/// Root runs what settings name as whoever could have written it there.
@Suite(.enabled(if: geteuid() == 0, "only root gives files to others"))
struct SettingsOwnerTests {
    private let directory: URL
    private let file: String
    private static let stranger: uid_t = 4711

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "onionbell-owner-\(UUID())")
        for name in ["etc", "state"] {
            try FileManager.default.createDirectory(
                at: directory.appending(path: name), withIntermediateDirectories: true)
        }
        file = directory.path + "/etc/onionbell.yaml"
    }

    private func give(_ name: String) { lchown("\(directory.path)/\(name)", Self.stranger, Self.stranger) }

    @Test func rootsOwnSettingsAreRoots() throws {
        #expect(SettingsOwner.find(file) == nil)
        try "".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(SettingsOwner.find(file) == nil)
        #expect(SettingsOwner.become(of: file) == nil && geteuid() == 0)
    }

    @Test func theFilesOwnerCounts() throws {
        try "".write(toFile: file, atomically: false, encoding: .utf8)
        give("etc/onionbell.yaml")
        #expect(SettingsOwner.find(file) == Self.stranger)
        // Nobody of that number is known here.
        #expect(SettingsOwner.become(of: file)?.contains("4711") == true)
    }

    /// Its owner may put another file there.
    @Test func theFoldersOwnerCounts() {
        give("etc")
        #expect(SettingsOwner.find(file) == Self.stranger)
    }

    /// As `init` leaves it: whatever the node's file is, even a link to one of root's.
    @Test(arguments: ["../state/own.yaml", "/STATE/own.yaml"])
    func whereALinkLeadsCounts(target: String) throws {
        let target = target.replacing("/STATE", with: directory.path + "/state")
        #expect(symlink(target, file) == 0)
        #expect(SettingsOwner.find(file) == nil)
        give("state")
        #expect(symlink("/etc/hostname", directory.path + "/state/own.yaml") == 0)
        #expect(SettingsOwner.find(file) == Self.stranger)
    }

    @Test func aLinkToItselfEnds() {
        #expect(symlink("onionbell.yaml", file) == 0)
        #expect(SettingsOwner.find(file) == nil)
    }
}
