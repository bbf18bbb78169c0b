import Testing

@testable import Node

/// What holds against floods, and how the node's own connections go out.
@Suite struct SettingsDefenceTests {
    @Test func theGuardedFormIsForATorThatOnlyTheNodeUses() throws {
        #expect(try settings("").isGuarded)
        #expect(try !settings("tor: {mode: system}").isGuarded)
        #expect(try !settings("onion: {guarded: false}").isGuarded)
        let instance = try settings("tor: {mode: instance, control: 'unix:/r/control'}")
        #expect(instance.isGuarded && instance.warnings.isEmpty)
        #expect(instance.onionForm(torDirectory: "/t").directory == "/r/service")
        #expect(DoorSockets(instance).directory == "/run/onionbell")
        #expect(
            faults("tor: {mode: instance}") == [
                "line 1: tor.control: must be a Unix socket with mode: instance; the package's is unix:/run/onionbell-tor/control"
            ])
        #expect(try settings("").onionForm(torDirectory: "/t").directory == "/t/service")
        #expect(try settings("tor: {mode: system}").onionForm(torDirectory: "/t").directory == nil)
        #expect(
            faults("tor: {mode: system}\nonion: {introduction_rate: 25}") == [
                "line 2: onion.introduction_rate: needs guarded: true, a tor that only the node uses, and no ports in peer_listen and http_listen"
            ])
    }

    /// Whoever can connect could say by which circuit he came.
    @Test(arguments: ["peer_listen", "http_listen"])
    func atAPortCircuitsAreNotToldAndAWarningSaysSo(key: String) throws {
        let port = try settings("onion: {\(key): '127.0.0.1:0'}")
        #expect(!port.isGuarded)
        #expect(port.warnings.map(\.words).contains { $0.hasPrefix("onion.\(key) is a port") })
        let socket = try settings("onion: {\(key): 'unix:/run/x'}")
        #expect(socket.isGuarded && socket.warnings.isEmpty)
    }

    @Test func socketsLieWhereOnlyTorReachesThem() throws {
        #expect(DoorSockets(try settings("state_directory: /s")).directory == "/s/sockets")
        #expect(DoorSockets(try settings("tor: {mode: system}")).directory == "/run/onionbell")
        #expect(DoorSockets(try settings("onion: {socket_directory: /d}")).directory == "/d")
    }

    @Test func aPathTooLongForASocketIsSaidToBe() throws {
        let directory = "/" + String(repeating: "d", count: 100)
        let sockets = DoorSockets(try settings("onion: {socket_directory: \(directory)}"))
        #expect(try sockets.open("peers") { $0 } == .unix(path: directory + "/peers"))
        do throws(NodeError) {
            _ = try sockets.open("peers2") { $0 }
            Issue.record("108 bytes were taken")
        } catch {
            #expect("\(error)".contains("is 108 bytes long"))
        }
    }

    @Test func whatIsOffIsNotAskedOfTor() throws {
        let form = try settings("").onionForm(torDirectory: "/t")
        #expect(form.proofOfWork == .init(perSecond: 250, burst: 2500))
        #expect(form.introductions == nil && form.streamsPerCircuit == 64 && form.clients == nil)
        let other = try settings(
            "onion: {proof_of_work: false, introduction_rate: 25, streams_per_circuit: 0}"
        ).onionForm(torDirectory: "/t")
        #expect(other.proofOfWork == nil && other.streamsPerCircuit == 0)
        #expect(other.introductions == .init(perSecond: 25, burst: 200))
    }

    @Test func aBurstIsNotLessThanItsRate() {
        #expect(
            faults("onion: {work_rate: 3000}") == [
                "line 1: onion.work_burst: must not be less than work_rate, 3000"
            ])
        #expect(
            faults("onion: {introduction_rate: 201}") == [
                "line 1: onion.introduction_burst: must not be less than introduction_rate, 201"
            ])
    }

    @Test func aProxyIsTorAnotherOrNone() throws {
        #expect(try settings("gateways: {proxy: none}").proxy == .none)
        #expect(try settings("gateways: {proxy: tor}").proxy == .tor)
        #expect(
            try settings("gateways: {proxy: 'socks5://[::1]:9050'}").proxy
                == .socks5(.host("::1", port: 9050)))
        for other in [
            "Tor", "socks5://", "socks5://a", "socks5://a:0", "socks5://u:p@a:1", "socks5://unix:/a",
            "http://a:1", "socks5://a:1/",
        ] {
            let found = faults("gateways: {proxy: '\(other)'}")
            #expect(found.count == 1 && found[0].hasPrefix("line 1: gateways.proxy: "), "\(other): \(found)")
        }
    }
}
