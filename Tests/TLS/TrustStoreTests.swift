import Crypto
import Foundation
import Testing

@testable import TLS

/// Four hundred apps trust the same authorities, which are over a hundred: they are read once.
@Suite struct TrustStoreTests {
    private let pem: [UInt8]

    init() throws { pem = try TLSWorld.shared.authority.rootPEM() }

    @Test func authoritiesAreReadOnceForAllWhoHaveThem() throws {
        for trust in [TLSTrust.systemRoots, .authorities(pem: pem)] {
            let one = try TLSContext(trusting: trust, protocols: ["h2"])
            let identity = try TLSWorld.shared.authority.client(topic: "a.topic")
            let other = try TLSContext(
                trusting: trust, protocols: [],
                credentials: TLSCredentials(
                    chainPEM: try identity.chainPEM(), keyPEM: try identity.keyPEM().bytes))
            #expect(one.authorities != nil && one.authorities === other.authorities)
        }
        let systems = try TLSContext(trusting: .systemRoots, protocols: [])
        let own = try TLSContext(trusting: .authorities(pem: pem), protocols: [])
        #expect(systems.authorities !== own.authorities)
    }

    @Test func aContextThatShowsNothingIsShared() throws {
        let trust = TLSTrust.authorities(pem: pem + Array("\n".utf8))
        var one: TLSContext? = try .shared(trusting: trust, protocols: ["h2"])
        #expect(try TLSContext.shared(trusting: trust, protocols: ["h2"]) === one)
        #expect(try TLSContext.shared(trusting: trust, protocols: ["http/1.1"]) !== one)
        weak let authorities = one?.authorities
        one = nil
        #expect(authorities == nil)
    }

    /// As when the operator has put others into the file, or the system's were updated.
    @Test func aFileThatHasChangedIsReadAnew() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(pem).write(to: URL(filePath: path))
        let one = try TLSContext(trusting: .file(path: path), protocols: [])
        #expect(try TLSContext(trusting: .file(path: path), protocols: []).authorities === one.authorities)
        try Data(pem).write(to: URL(filePath: path), options: .atomic)
        #expect(try TLSContext(trusting: .file(path: path), protocols: []).authorities !== one.authorities)
        try Data("none".utf8).write(to: URL(filePath: path))
        #expect(throws: TLSError.self) { try TLSContext(trusting: .file(path: path), protocols: []) }
    }
}
