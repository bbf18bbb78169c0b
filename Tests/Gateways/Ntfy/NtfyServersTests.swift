import Crypto
import Lab
import LabParts
import Reactor
import Relay
import Testing

@testable import Gateways

/// A household with two servers of ntfy's.
@Suite struct NtfyServersTests {
    private let home = "nt1:ntfy.home.example:bisq"

    private func validator(_ phones: [(app: String, address: String)], second: String = "home") -> Validator {
        let apps = [("public", "ntfy.sh"), (second, "ntfy.home.example")].map { name, server in
            App(
                name: name, service: NtfyService(server: server), isEnabled: true, targets: .phoneBook)
        }
        var validator = Validator(apps: apps, defaultIOS: "", defaultAndroid: "")
        validator.phoneBook = PhoneBook(
            phones.enumerated().map { index, phone in
                PhoneBook.Phone(
                    number: Int64(index), name: "me\(index)", platform: .android, app: phone.app,
                    deviceToken: DeviceToken(phone.address))
            })
        return validator
    }

    private func way(_ validator: Validator, _ address: String, naming app: String = "") -> String {
        let submission = Submission(platform: .android, app: app, deviceToken: address, message: "")
        do throws(Reason) {
            let (recipient, _) = try validator.recipient(of: submission)
            return "\(recipient.lane.app) \(recipient.deviceToken.text)"
        } catch {
            return error.code
        }
    }

    @Test func anAddressMayNameItsServer() {
        let both = validator([("", "nt1:bisq"), ("", home)])
        #expect(way(both, home) == "home \(home)")
        #expect(way(both, "nt1:bisq") == "public nt1:bisq")
        #expect(way(both, "nt1:ntfy.sh:bisq") == "NotInPhoneBook")
        #expect(way(both, "nt1:else.example:bisq") == "BadDeviceToken")
    }

    /// As before there were several: an address without a server is the first one's, unless the book says otherwise.
    @Test func withoutAServerThePhoneBookSaysOfWhichItIs() {
        #expect(way(validator([("", "nt1:bisq")]), "nt1:bisq") == "public nt1:bisq")
        #expect(way(validator([("home", "nt1:bisq")]), "nt1:bisq") == "home nt1:bisq")
        #expect(way(validator([("home", "nt1:bisq")]), "nt1:bisq....") == "home nt1:bisq")
        // No sender takes it elsewhere.
        #expect(way(validator([("home", "nt1:bisq")]), "nt1:bisq", naming: "public") == "home nt1:bisq")
        // It is of both.
        let both = validator([("public", "nt1:bisq"), ("home", "nt1:bisq")])
        #expect(way(both, "nt1:bisq") == "public nt1:bisq")
        #expect(way(both, "nt1:bisq", naming: "home") == "home nt1:bisq")
        #expect(way(validator([]), "nt1:bisq") == "NotInPhoneBook")
        // An app of that name is gone.
        #expect(way(validator([("gone", "nt1:bisq")]), "nt1:bisq") == "public nt1:bisq")
    }
}

/// A server that is reached by plain HTTP in the operator's own network.
@EventLoop
@Suite struct NtfyInOwnNetworkTests {
    private func name(_ addresses: [String], _ port: UInt16) -> Dial.Lookup {
        { (_, deadline) async throws(ConnectError) in
            var found: [SocketAddress] = []
            for address in addresses {
                found += try await Stream.addresses(of: .host(address, port: port), deadline: deadline)
            }
            return found
        }
    }

    private func delivery(by lookUp: @escaping Dial.Lookup, _ port: UInt16) async throws -> Outcome {
        let settings = NtfySettings(
            url: try GatewayURL("http://nas.home.arpa:\(port)", plainHost: "nas.home.arpa"),
            login: .token(Secret("tk_0123456789")), lookUp: NtfyApp.lookUpInOwnNetwork(asking: lookUp))
        let gateway = try NtfyGateway(settings, log: quiet)
        gateway.start()
        defer { gateway.stop() }
        return await gateway.deliver(notification(deviceToken: "nt1:bisq"))
    }

    @Test func itIsRungByItsName() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_0123456789"
        guard case .host(_, let port) = server.endpoint else { return }
        #expect(try await delivery(by: name(["127.0.0.1"], port), port) == .accepted)
        #expect(server.book.map(\.topic) == ["bisq"])
        server.close()
    }

    /// A name server that lies gets nothing, and neither does one of two addresses.
    @Test(arguments: [["9.9.9.9"], ["127.0.0.1", "9.9.9.9"], ["2606:4700::1111"]])
    func aPublicAddressGetsNothing(addresses: [String]) async throws {
        let lookUp = NtfyApp.lookUpInOwnNetwork(asking: name(addresses, 80))
        await #expect(throws: ConnectError.self) {
            try await lookUp(.host("nas.home.arpa", port: 80), .seconds(5))
        }
    }

    @Test(arguments: [
        "10.0.0.1", "192.168.1.2", "172.16.0.9", "169.254.1.1", "100.64.0.1", "fd00::1", "fe80::1",
    ])
    func anAddressOfAHouseIsTaken(address: String) async throws {
        let lookUp = NtfyApp.lookUpInOwnNetwork(asking: name([address], 80))
        #expect(try await lookUp(.host("nas.home.arpa", port: 80), .seconds(5)).count == 1)
    }
}
