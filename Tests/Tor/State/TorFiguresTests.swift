import Clocks
import Logging
import Testing

@testable import Tor

@Suite struct TorFiguresTests {
    private let id = String(repeating: "a", count: 56)

    private func figures(_ lines: [String]) throws -> TorFigures {
        var figures = TorFigures()
        for line in lines {
            figures.take(try ControlEvent(reply(650, line)), of: id, at: 1234, clockOffset: 10_000)
        }
        return figures
    }

    @Test func uploadsOfOurServiceAreCounted() throws {
        let directory = "$00112233445566778899AABBCCDDEEFF00112233~relay"
        let figures = try figures([
            "HS_DESC UPLOAD \(id) UNKNOWN \(directory) c29tZQ HSDIR_INDEX=00",
            "HS_DESC UPLOAD \(id) UNKNOWN \(directory) c29tZQ HSDIR_INDEX=00",
            "HS_DESC UPLOADED \(id) UNKNOWN \(directory)",
            "HS_DESC FAILED \(id) NO_AUTH \(directory) c29tZQ REASON=UPLOAD_REJECTED",
            "HS_DESC UPLOADED \(String(repeating: "b", count: 56)) UNKNOWN \(directory)",
        ])
        #expect(figures.uploadsBegun == 2)
        #expect(figures.uploads == 1)
        #expect(figures.uploadFailures == ["UPLOAD_REJECTED": 1])
        #expect(figures.lastUpload == 1234)
    }

    @Test func reasonsWithoutEndAreGathered() throws {
        let figures = try figures(
            (0..<100).map { "HS_DESC FAILED \(id) NO_AUTH $0 c29tZQ REASON=NEW_\($0)" })
        #expect(figures.uploadFailures.count == 17)
        #expect(figures.uploadFailures.values.reduce(0, +) == 100)
    }

    @Test func whatTorSaysOfTheNetworkIsKept() throws {
        let figures = try figures([
            "STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=50 TAG=loading_descriptors SUMMARY=\"Loading\"",
            "NETWORK_LIVENESS DOWN", "STATUS_CLIENT NOTICE CIRCUIT_NOT_ESTABLISHED REASON=CLOCK_JUMPED",
        ])
        #expect(figures.bootstrap?.progress == 50)
        #expect(figures.isNetworkLive == false)
        #expect(figures.hasCircuit == false)
    }

    @Test func aClockThatWasSetRightIsNotSkewedAnyMore() throws {
        let skew = try #require(
            try figures(["STATUS_GENERAL WARN CLOCK_SKEW SKEW=-3600 SOURCE=OR"]).clockSkew)
        #expect(skew.seconds(at: 10_000) == -3600)
        #expect(skew.seconds(at: 10_000 + 3_600_000) == 0)
        #expect(skew.seconds(at: 10_000 - 60_000) == -3660)
    }

    @Test func aClockBeyondAllSenseIsToldAndEndsNothing() {
        // What nobody logs is not even computed.
        let log = PresenceLog(log: Logger(label: "test") { StreamLogHandler.standardError(label: $0) })
        for seconds in [Int.min, .max] {
            log.write(.clockSkew(seconds: seconds), isOurs: true)
            let skew = ClockSkew(reported: seconds, offset: .min)
            for offset in [Int64.min, -1, 0, .max] { _ = skew.seconds(at: offset) }
        }
        #expect(ClockSkew(reported: .max, offset: 0).seconds(at: 1000) == .max)
    }

    @Test func aPulseIsReadFromOneReply() throws {
        let lines = [
            "version=0.4.9.11",
            "status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY=\"Done\"",
            "status/circuit-established=0", "network-liveness=up", "OK",
        ]
        let pulse = try TorPulse(ControlReply(lines.map { .init(code: 250, text: $0) }))
        var figures = TorFigures()
        figures.take(pulse)
        #expect(figures.version == "0.4.9.11")
        #expect(figures.bootstrap?.progress == 100)
        #expect(figures.hasCircuit == false)
        #expect(figures.isNetworkLive == true)
        #expect(throws: ControlSyntaxError.unreadableReply(to: "GETINFO")) {
            try TorPulse(ControlReply([.init(code: 250, text: "version=0.4.9.11")]))
        }
    }

    /// The wall clock may have been set between the two.
    @Test(
        arguments: [
            (nil, nil, false), (nil, 5, true), (4, nil, false), (4, 5, true), (5, 5, false), (6, 5, false),
        ] as [(Int64?, Int64?, Bool)])
    func whetherAClientCameIsToldByAClockThatNobodySets(client: Int64?, failingSince: Int64?, isLonely: Bool)
    {
        var figures = TorFigures()
        figures.lastClientInstant = client.map { MonotonicTime(nanoseconds: $0) }
        figures.lastClient = .max
        figures.selfDial.failingSince = failingSince.map { MonotonicTime(nanoseconds: $0) }
        #expect(figures.isLonely == isLonely)
    }
}
