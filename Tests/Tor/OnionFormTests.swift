import Foundation
import Reactor
import Testing

@testable import Tor

/// What tor is told of the service, in either form.
@Suite struct OnionFormTests {
    private let key = OnionKey(seed: [UInt8](repeating: 1, count: 32))!
    private let ports = [
        try! VirtualPort(9999, to: .unix(path: "/run/a.sock")),
        try! VirtualPort(80, to: .host("127.0.0.1", port: 8080)),
    ]
    private let client = ClientKey(line: "descriptor:x25519:\(String(repeating: "A", count: 52))")!

    private func words(_ form: OnionForm, own: ClientKey? = nil) -> [Substring] {
        form.command(key: key, ports: ports, own: own).line.split(separator: " ").filter {
            !$0.hasPrefix("ED25519-V3:")
        }
    }

    @Test func thePlainFormHoldsWhatADD_ONIONTakes() {
        var form = OnionForm()
        #expect(
            words(form) == [
                "ADD_ONION", "Flags=DiscardPK", "Port=9999,unix:/run/a.sock", "Port=80,127.0.0.1:8080",
            ])
        form.streamsPerCircuit = 64
        form.proofOfWork = .init(perSecond: 250, burst: 2500)
        form.introductions = .init(perSecond: 25, burst: 200)
        form.clients = [client]
        #expect(
            words(form) == [
                "ADD_ONION", "Flags=DiscardPK,MaxStreamsCloseCircuit,V3Auth", "MaxStreams=64",
                "PoWDefensesEnabled=1", "PoWQueueRate=250", "PoWQueueBurst=2500",
                "ClientAuthV3=\(String(repeating: "A", count: 52))", "Port=9999,unix:/run/a.sock",
                "Port=80,127.0.0.1:8080",
            ])
    }

    /// One command: what it leaves out tor would take away.
    @Test func aNeighbourStandsBehindTheServiceWithADirectoryAndLimitsOfItsOwn() {
        var other = OnionForm()
        other.directory = "/b"
        other.streamsPerCircuit = 32
        var form = OnionForm()
        form.directory = "/a"
        let key = OnionKey(seed: [UInt8](repeating: 2, count: 32))!
        form.neighbours = [NeighbourService(key: key, ports: [ports[1]], form: other)]
        #expect(
            words(form) == [
                "SETCONF", "HiddenServiceDir=\"/a\"", "HiddenServicePort=\"9999", "unix:/run/a.sock\"",
                "HiddenServicePort=\"80", "127.0.0.1:8080\"", "HiddenServiceExportCircuitID=\"haproxy\"",
                "HiddenServiceDir=\"/b\"", "HiddenServicePort=\"80", "127.0.0.1:8080\"",
                "HiddenServiceExportCircuitID=\"haproxy\"", "HiddenServiceMaxStreams=\"32\"",
                "HiddenServiceMaxStreamsCloseCircuit=\"1\"",
            ])
        var closed = form
        closed.neighbours[0].form.clients = []
        #expect(closed.neighbours[0].letsIn(moreThan: form.neighbours[0]) == false)
        #expect(form.neighbours[0].letsIn(moreThan: closed.neighbours[0]))
        #expect(form != closed)
    }

    @Test func theGuardedFormIsAServiceOfTorsConfigurationThatTellsCircuits() {
        var form = OnionForm()
        form.directory = "/var/lib/onion bell/tor/service"
        let line = form.command(key: key, ports: ports, own: nil).line
        #expect(
            line == "SETCONF HiddenServiceDir=\"/var/lib/onion bell/tor/service\" "
                + "HiddenServicePort=\"9999 unix:/run/a.sock\" HiddenServicePort=\"80 127.0.0.1:8080\" "
                + "HiddenServiceExportCircuitID=\"haproxy\"")
        form.streamsPerCircuit = 64
        form.proofOfWork = .init(perSecond: 250, burst: 2500)
        form.introductions = .init(perSecond: 25, burst: 200)
        #expect(
            words(form).suffix(8) == [
                "HiddenServiceMaxStreams=\"64\"", "HiddenServiceMaxStreamsCloseCircuit=\"1\"",
                "HiddenServicePoWDefensesEnabled=\"1\"", "HiddenServicePoWQueueRate=\"250\"",
                "HiddenServicePoWQueueBurst=\"2500\"", "HiddenServiceEnableIntroDoSDefense=\"1\"",
                "HiddenServiceEnableIntroDoSRatePerSec=\"25\"",
                "HiddenServiceEnableIntroDoSBurstPerSec=\"200\"",
            ])
    }

    /// A service with an empty list would be a public one to tor.
    @Test func aPrivateServiceWithoutClientsIsOurOwnOnly() {
        var form = OnionForm()
        #expect(form.authorized(client) == [])
        form.clients = []
        #expect(form.authorized(client) == [client])
        #expect(words(form, own: client).contains("ClientAuthV3=\(client.base32)"))
    }

    /// Our own tor needs no key for a neighbour: with the last client's key goes the last one of all.
    @Test func aPrivateNeighbourWithoutClientsIsNobodys() throws {
        var form = OnionForm()
        form.clients = []
        let first = form.authorized(nil)
        #expect(first.count == 1 && first != form.authorized(nil))
        #expect(words(form).contains { $0.hasPrefix("ClientAuthV3=") })
        let parent = TemporaryDirectory()
        let directory = ServiceDirectory(path: parent.path + "/service")
        try directory.fill(key: key, clients: form.authorized(nil))
        #expect(try PrivateFile.names(in: directory.path + "/authorized_clients") == ["0.auth"])
    }

    /// A tor of the system's refuses a private service for which it gets no key.
    @Test @EventLoop func aTorTakesAPrivateNeighbourWithoutClients() async throws {
        let tor = try LoneTor()
        let connection = try await tor.connect()
        var other = OnionForm()
        other.clients = []
        var form = OnionForm()
        form.neighbours = [NeighbourService(key: .generate(), ports: [ports[1]], form: other)]
        _ = try await OnionService.publish(key: .generate(), ports: [ports[1]], as: form, on: connection)
        let services = try await connection.send(.getInfo(["onions/current"]))["onions/current"] ?? ""
        #expect(services.contains(form.neighbours[0].address.serviceID))
        tor.kill()
        try await tor.waitUntilGone()
    }

    @Test func anOnionbalanceBeforeTheServiceIsToldToTorUnlessItIsTheServiceItself() throws {
        let front = OnionAddress(publicKey: [UInt8](repeating: 7, count: 32))
        let instance = "HiddenServiceOnionBalanceInstance=\"1\""
        var form = OnionForm()
        form.front = front
        #expect(words(form).first == "ADD_ONION")
        form.directory = "/service"
        #expect(words(form).last == Substring(instance))
        form.front = key.address
        #expect(!words(form).contains(Substring(instance)))

        let parent = TemporaryDirectory()
        let directory = ServiceDirectory(path: parent.path + "/service")
        try directory.fill(key: key, clients: [], front: front)
        let config = try PrivateFile.read(directory.path + "/ob_config", limit: 200)
        #expect(config == Array("MasterOnionAddress \(front)\n".utf8))
        try directory.fill(key: key, clients: [])
        #expect(try !PrivateFile.names(in: directory.path).contains("ob_config"))
    }

    @Test func theDirectoryHoldsTheNodesKeyAndTheClientsOfThisTimeOnly() throws {
        let parent = TemporaryDirectory()
        let directory = ServiceDirectory(path: parent.path + "/service")
        let other = ClientSecret.generate().publicKey
        try directory.fill(key: key, clients: [client, other])
        let secret = directory.path + "/hs_ed25519_secret_key"
        let bytes = try PrivateFile.read(secret, limit: 96)
        #expect(bytes == Array("== ed25519v1-secret: type0 ==\0\0\0".utf8) + key.expandedBytes)
        let attributes = try FileManager.default.attributesOfItem(atPath: secret)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        // What tor wrote for this key stays; beside another key it would be the end of tor.
        for name in ["/hostname", "/hs_ed25519_public_key"] {
            try PrivateFile.write("a", to: directory.path + name, replacing: true)
        }
        try directory.fill(key: key, clients: [other])
        #expect(try PrivateFile.names(in: directory.path + "/authorized_clients").count == 1)
        #expect(try Set(PrivateFile.names(in: directory.path)).isSuperset(of: ["hostname"]))
        try directory.fill(key: .generate(), clients: [])
        #expect(
            try Set(PrivateFile.names(in: directory.path)) == ["hs_ed25519_secret_key", "authorized_clients"])
        #expect(try PrivateFile.names(in: directory.path + "/authorized_clients").isEmpty)
    }
}

@Suite struct InvitationTests {
    let directory = TemporaryDirectory()
    private var invitations: Invitations { Invitations(path: directory.path + "/peers") }

    @Test func aNodeIsPublicUntilSomebodyIsInvitedAndPrivateFromThenOn() throws {
        #expect(try invitations.load() == nil)
        let alice = try invitations.invite("alice")
        #expect(try invitations.load() == ["alice": alice.publicKey])
        let bob = try invitations.invite("Bob_2-b")
        #expect(try invitations.load() == ["alice": alice.publicKey, "Bob_2-b": bob.publicKey])
        try invitations.revoke("alice")
        try invitations.revoke("Bob_2-b")
        #expect(try invitations.load() == [:])
        _ = try invitations.invite("carol")
        try invitations.makePublic()
        #expect(try invitations.load() == nil)
    }

    @Test func theSecretHalfIsNotKeptAndNotShown() throws {
        let secret = try invitations.invite("alice")
        let address = try #require(OnionKey(seed: [UInt8](repeating: 1, count: 32))?.address)
        let line = secret.line(for: address)
        #expect(line.hasPrefix("\(address.serviceID):descriptor:x25519:") && line.utf8.count == 56 + 19 + 52)
        let file = try String(contentsOfFile: directory.path + "/peers/alice.auth", encoding: .utf8)
        #expect(file == secret.publicKey.line + "\n")
        #expect(!file.contains(line.suffix(52)))
        #expect("\(secret)" == "<secret>" && String(reflecting: secret) == "<secret>")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains("bytes"))
        #expect(
            secret.command(for: address).line.hasPrefix("ONION_CLIENT_AUTH_ADD \(address.serviceID) x25519:"))
    }

    @Test func aNameIsTakenOnce() throws {
        let first = try invitations.invite("alice")
        #expect(throws: InvitationError.invitedAlready("alice")) { try invitations.invite("alice") }
        #expect(try invitations.load() == ["alice": first.publicKey])
        #expect(throws: InvitationError.notInvited("bob")) { try invitations.revoke("bob") }
    }

    @Test(arguments: ["", "a b", "../a", "a/b", ".a", "ä", "a\n", String(repeating: "a", count: 65)])
    func aNameThatIsNoFileNameIsRefused(name: String) {
        #expect(throws: InvitationError.unfitName(name)) { try invitations.invite(name) }
        #expect(throws: InvitationError.unfitName(name)) { try invitations.revoke(name) }
    }

    @Test func oneTooManyIsRefused() throws {
        for number in 0..<Invitations.limit { _ = try invitations.invite("p\(number)") }
        #expect(throws: InvitationError.tooMany) { try invitations.invite("one-more") }
    }

    @Test func aFileThatHoldsNoKeyIsAFaultAndNotAnOpenDoor() throws {
        _ = try invitations.invite("alice")
        try PrivateFile.write(
            "descriptor:x25519:AAAA\n", to: directory.path + "/peers/bob.auth", replacing: false)
        #expect(throws: InvitationError.self) { try invitations.load() }
    }
}
