import Testing

@testable import Node

@Suite struct SettingsRangeTests {
    /// Key, smallest and largest value.
    static let wholeNumbers: [(String, Int, Int)] = [
        ("onion.peer_port", 1, 65535),
        ("onion.upload_timeout", 10, 3600),
        ("onion.self_dial_interval", 0, 86400),
        ("onion.self_dial_timeout", 1, 120),
        ("onion.self_dial_failures", 1, 100),
        ("tor.heartbeat", 1, 300),
        ("peers.connections", 1, 1_000_000),
        ("peers.idle_timeout", 1, 86400),
        ("peers.frame_deadline", 1, 3600),
        ("peers.frame_bytes", 8192, 10_485_760),
        ("peers.frames_per_second", 1, 65535),
        ("peers.frames_per_ten_seconds", 1, 65535),
        ("peers.unanswered", 1, 65536),
        ("onion.streams_per_circuit", 0, 65535),
        ("circuits.connections", 0, 1_000_000),
        ("circuits.frames_per_second", 0, 1_000_000),
        ("circuits.bytes_per_second", 0, 1_000_000_000),
        ("circuits.strikes", 0, 1000),
        ("http.outcome_deadline", 0, 60),
        ("http.connections", 1, 1_000_000),
        ("http.request_deadline", 1, 3600),
        ("http.idle_timeout", 1, 86400),
        ("doors.web_push.outcome_deadline", 0, 8),
        ("doors.web_push.requests", 1, 1_000_000),
        ("doors.web_push.rate", 1, 1_000_000),
        ("doors.web_push.body_bytes", 1024, 1_048_576),
        ("doors.phone_page.requests", 1, 1_000_000),
        ("doors.phone_page.rate", 1, 1_000_000),
        ("doors.mailbox.readers", 1, 1_000_000),
        ("doors.mailbox.rate", 1, 1_000_000),
        ("doors.mailbox.messages", 1, 100_000),
        ("limits.token_burst", 1, 1_000_000),
        ("limits.waiting_per_token", 1, 1_000_000),
        ("limits.waiting", 1, 10_000_000),
        ("limits.waiting_bytes", 65536, 1_099_511_627_776),
        ("limits.lifetime", 60, 2_419_200),
        ("limits.identity_memory", 60, 2_592_000),
        ("limits.dead_token_memory", 60, 31_536_000),
    ]

    @Test(arguments: wholeNumbers)
    func theEndsOfARangeAreTakenAndWhatLiesBeyondIsNot(key: String, lowest: Int, highest: Int) {
        for value in [lowest, highest] { #expect(faults(yaml(key, "\(value)")) == [], "\(value)") }
        for value in [
            "\(lowest - 1)", "\(highest + 1)", "-1", "99999999999999999999", "0x10", "1 000", "\"\"",
        ] {
            let found = faults(yaml(key, value))
            let line = key.split(separator: ".").count
            #expect(found.count == 1 && found[0].hasPrefix("line \(line): \(key): "), "\(value): \(found)")
            #expect(found.first?.hasSuffix("from \(lowest) to \(highest)") == true, "\(value): \(found)")
        }
    }

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

    private func yaml(_ key: String, _ value: String) -> String {
        let parts = key.split(separator: ".")
        let lines = parts.enumerated().map { String(repeating: "  ", count: $0.offset) + "\($0.element):" }
        return lines.joined(separator: "\n") + " \(value)\n"
    }
}
