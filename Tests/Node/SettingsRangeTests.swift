import Testing

@testable import Node

@Suite struct SettingsRangeTests {
    @Test func theTokenRateIsAFraction() throws {
        for value in ["0.001", "1000000", "2", "2.5", "1e3"] {
            #expect(faults("limits:\n  token_rate: \(value)") == [], "\(value)")
        }
        for value in ["0.0009", "1000001", "0", "-1", "nan", "inf"] {
            #expect(faults("limits:\n  token_rate: \(value)").count == 1, "\(value)")
        }
        #expect(try settings("limits:\n  token_rate: 0.25").limits.tokenRate == 0.25)
    }

    @Test func valuesReachTheirPlaces() throws {
        let read = try settings(
            """
            tor: {heartbeat: 11, socks: "127.0.0.1:9150"}
            onion:
              peer_port: 1234
              network: regtest
              upload_timeout: 12
              self_dial_interval: 13
              self_dial_timeout: 14
              self_dial_failures: 15
            peers:
              connections: 1
              idle_timeout: 2
              frame_deadline: 3
              frame_bytes: 8193
              frames_per_second: 5
              frames_per_ten_seconds: 6
              unanswered: 7
            http:
              outcome_deadline: 0
              connections: 2
              request_deadline: 3
              idle_timeout: 4
            limits:
              token_burst: 8
              waiting_per_token: 9
              waiting: 10
              waiting_bytes: 65537
              lifetime: 61
              identity_memory: 62
              dead_token_memory: 63
            """)
        #expect(read.onion.peerPort == 1234)
        #expect(read.onion.network == .regtest)
        #expect(read.peers.network == .regtest)
        #expect(read.tor.heartbeat == .seconds(11))
        #expect(read.tor.socks == .host("127.0.0.1", port: 9150))
        #expect(read.onion.uploadTimeout == .seconds(12))
        #expect(read.onion.selfDial.interval == .seconds(13))
        #expect(read.onion.selfDial.timeout == .seconds(14))
        #expect(read.onion.selfDial.failures == 15)
        #expect(read.peers.connections == 1)
        #expect(read.peers.idleTimeout == .seconds(2))
        #expect(read.peers.frameDeadline == .seconds(3))
        #expect(read.peers.limits.frameLength == 8193)
        #expect(read.peers.limits.framesPerSecond == 5)
        #expect(read.peers.limits.framesPerTenSeconds == 6)
        #expect(read.peers.unanswered == 7)
        #expect(read.bisqRelay.outcomeDeadline == .zero)
        #expect(read.http.connections == 2)
        #expect(read.http.requestDeadline == .seconds(3))
        #expect(read.http.idleTimeout == .seconds(4))
        #expect(read.limits.tokenBurst == 8)
        #expect(read.limits.waitingPerToken == 9)
        #expect(read.limits.waiting == 10)
        #expect(read.limits.waitingBytes == 65537)
        #expect(read.lifetime == .seconds(61))
        #expect(read.identityMemory == .seconds(62))
        #expect(read.deadTokenMemory == .seconds(63))
    }
}
