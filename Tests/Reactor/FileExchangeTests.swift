import Foundation
import Reactor
import Testing

/// Several files come to their places together, or none of them.
@Suite struct FileExchangeTests {
    private let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/exchange-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for name in ["one", "two", "three"] {
            try PrivateFile.write("old \(name)", to: "\(directory)/\(name)", replacing: false)
        }
    }

    private var content: [String: String] {
        get throws {
            var content: [String: String] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: directory) where name != "new" {
                let bytes = try PrivateFile.read("\(directory)/\(name)", limit: 99)
                content[name] = String(decoding: bytes, as: UTF8.self)
            }
            return content
        }
    }

    private func prepare(_ files: inout FileExchange) throws {
        try files.put(Array("new one".utf8), at: directory + "/one", keeping: directory + "/one-kept")
        try files.put(Array("new two".utf8), at: directory + "/two", mode: 0o640)
        try files.makeDirectory(directory + "/new")
        try files.put(Array("new".utf8), at: directory + "/new/file")
        try files.remove(directory + "/three")
        try files.remove(directory + "/nothing")
    }

    @Test func allAreExchangedAndTheFormerIsKeptWhereAskedFor() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var files = FileExchange()
        try prepare(&files)
        try files.exchange()
        files.keep()
        #expect(
            try content == [
                "one": "new one", "one-kept": "old one", "two": "new two", "new/file": "new",
            ])
        let mode = try FileManager.default.attributesOfItem(atPath: directory + "/two")[.posixPermissions]
        #expect(mode as? Int == 0o640)
    }

    /// Whoever gives up has what was there, before the exchange and after it.
    @Test(arguments: [false, true])
    func withoutKeepingAllIsAsItWas(isExchanged: Bool) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let before = try content
        do {
            var files = FileExchange()
            try prepare(&files)
            if isExchanged { try files.exchange() }
        }
        #expect(try content == before)
        #expect(access(directory + "/new", F_OK) != 0)
    }

    /// A directory stands where the last file is to come.
    @Test func aPlaceThatCanNotBeTakenPutsBackTheOthers() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(
            atPath: directory + "/new", withIntermediateDirectories: false)
        let before = try content
        #expect(throws: SystemError.self) {
            var files = FileExchange()
            try files.put(Array("new one".utf8), at: directory + "/one", keeping: directory + "/one-kept")
            try files.put(Array("new".utf8), at: directory + "/new")
            try files.exchange()
            files.keep()
        }
        #expect(try content == before)
    }
}
