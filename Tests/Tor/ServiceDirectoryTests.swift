import Foundation
import Reactor
import Testing

@testable import Tor

/// Tor can write to the directory, and may have been taken over.
@Suite struct ServiceDirectoryTests {
    private let directory = TemporaryDirectory()
    private let key = OnionKey.generate()

    /// A file of the node, in a directory of its own.
    private func bystander() throws -> String {
        let path = directory.path + "/state"
        try PrivateFile.makeDirectory(path)
        try PrivateFile.write("outbox", to: path + "/outbox", replacing: false)
        return path
    }

    @Test(arguments: ["", "/authorized_clients"])
    func noFileElsewhereIsTouchedByALink(name: String) throws {
        let state = try bystander()
        let service = directory.path + "/service"
        if !name.isEmpty { try PrivateFile.makeDirectory(service) }
        try #require(symlink(state, service + name) == 0)
        #expect(throws: SystemError.self) {
            try ServiceDirectory(path: service).fill(key: key, clients: [ClientSecret.generate().publicKey])
        }
        #expect(try PrivateFile.names(in: state) == ["outbox"])
    }

    @Test func aLinkOrAPipeInTheDirectoryIsNoFile() throws {
        let state = try bystander()
        let service = directory.path + "/service"
        try PrivateFile.makeDirectory(service)
        try #require(symlink(state + "/outbox", service + "/hs_ed25519_secret_key") == 0)
        try #require(symlink(state + "/outbox", service + "/hs_ed25519_secret_key.new") == 0)
        try ServiceDirectory(path: service).fill(key: key, clients: [])
        #expect(try PrivateFile.read(state + "/outbox", limit: 100) == Array("outbox".utf8))
        #expect(try PrivateFile.read(service + "/hs_ed25519_secret_key", limit: 200) == key.torsFile)
        try #require(symlink(state + "/outbox", service + "/hostname") == 0)
        #expect(throws: SystemError.self) { try ServiceDirectory(path: service).address() }
        try #require(unlink(service + "/hostname") == 0 && mkfifo(service + "/hostname", 0o600) == 0)
        #expect(try ServiceDirectory(path: service).address() == nil)
    }

    /// Without any of these files the service is a public one to tor, whenever it next reads them.
    @Test func clientsStayWhereOthersCannotBeWritten() throws {
        let service = directory.path + "/service"
        let clients = (0..<50).map { _ in ClientSecret.generate().publicKey }
        try ServiceDirectory(path: service).fill(key: key, clients: clients)
        let authorized = service + "/authorized_clients"
        try PrivateFile.makeDirectory(authorized + "/0.auth.new")
        #expect(throws: SystemError.self) {
            try ServiceDirectory(path: service).fill(key: key, clients: [clients[7]])
        }
        #expect(try PrivateFile.names(in: authorized).count { $0.hasSuffix(".auth") } == clients.count)
    }
}
