import Testing
import Vectors
import Wire

/// What proto3 says of bytes that no ordinary peer writes.
@Suite struct EnvelopeTests {
    private func parse(_ hex: String) throws(ProtoError) -> Envelope {
        try Envelope(parsing: bytes(hex: hex))
    }

    @Test func aMemberOfTheOneofForgetsTheOneBefore() throws {
        // ping 1, pong 2, ping with only a round-trip time: the nonce of the first is gone.
        let envelope = try parse("080a" + "3a020801" + "42020802" + "3a021005")
        #expect(envelope.message == .ping(Ping(nonce: 0, lastRoundTripTime: 5)))
    }

    @Test func aFieldThatNobodyKnowsDisplacesNoMember() throws {
        #expect(try parse("080a" + "3a020801" + "820402082a").message == .ping(Ping(nonce: 1)))
        #expect(try parse("820402082a" + "3a020801").message == .ping(Ping(nonce: 1)))
    }

    @Test func aMemberInTheFormOfANumberIsAnUnknownField() throws {
        #expect(try parse("080a3805").message == .missing)
        #expect(try parse("080a3d00000000").message == .missing)
    }

    @Test func listsOfAMemberThatComesTwiceAreJoined() throws {
        let envelope = try parse("080a" + "2a021809" + "2a041a020a0b")
        #expect(envelope.message == .getPeersRequest(GetPeersRequest(supportedCapabilities: [9, 10, 11])))
        let bundles = try parse("080a" + "da02040a023a00" + "da02040a024200")
        #expect(
            bundles.message
                == .bundle([
                    Envelope(messageVersion: 0, message: .ping(Ping())),
                    Envelope(messageVersion: 0, message: .pong(Pong())),
                ]))
    }

    @Test func repeatingAMemberCostsNoMoreThanItsBytes() throws {
        // Each repetition adds a peer to a list that must not be copied for it.
        func cost(_ count: Int) throws -> Duration {
            let body = bytes(hex: "080a") + Array((0..<count).map { _ in bytes(hex: "2a022200") }.joined())
            let peers = [Peer](repeating: Peer(), count: count)
            return try (0..<3).map { _ in
                var envelope: Envelope?
                let elapsed = try processorTime { envelope = try Envelope(parsing: body) }
                #expect(envelope?.message == .getPeersRequest(GetPeersRequest(reportedPeers: peers)))
                return elapsed
            }.min()!
        }
        // Sixteen times the members: 16 times the time, and 256 times if each copied those before it.
        #expect(try cost(8000) < cost(500) * 64 + .milliseconds(20))
    }

    @Test func theSenderAddressIsMergedToo() throws {
        // The host name in one piece, the port in another.
        let envelope = try parse("080a" + "2a0b" + "0a050a03616263" + "0a021005")
        #expect(
            envelope.message
                == .getPeersRequest(
                    GetPeersRequest(senderNodeAddress: NodeAddress(hostName: "abc", port: 5))))
    }

    @Test func aNestedBundleIsNotRead() throws {
        #expect(
            try parse("da02060a04da0201ff").message
                == .bundle([Envelope(messageVersion: 0, message: .nestedBundle)]))
    }

    @Test func groupsAreSkippedWhenTheyClose() throws {
        #expect(try parse("a306a406" + "3a00").message == .ping(Ping()))
        #expect(try parse("a306a306a406a406" + "3a00").message == .ping(Ping()))
        #expect(throws: ProtoError.truncated) { try parse("a3063a00") }
        #expect(throws: ProtoError.unmatchedGroup) { try parse("a4063a00") }
        #expect(throws: ProtoError.unmatchedGroup) { try parse("a306ac06") }
    }

    @Test func groupsNestAsDeepAsInJavaAndNoDeeper() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((0..<depth).map { _ in bytes(hex: "a306") }.joined())
                + Array((0..<depth).map { _ in bytes(hex: "a406") }.joined())
        }
        _ = try Envelope(parsing: nested(100))
        #expect(throws: ProtoError.tooDeep) { try Envelope(parsing: nested(101)) }
        #expect(throws: ProtoError.self) {
            try Envelope(parsing: Array((0..<30_000).map { _ in bytes(hex: "a306") }.joined()))
        }
    }

    @Test(arguments: ["3a", "3a05", "08", "088080", "3d0000", "39000000", "2a030a0261"])
    func whatRunsPastTheEndIsRefused(hex: String) {
        #expect(throws: ProtoError.truncated) { try parse(hex) }
    }

    @Test func aVarintEndsAfterTenBytes() throws {
        #expect(try parse("08ffffffffffffffffff7f").messageVersion == -1)
        #expect(throws: ProtoError.overlongVarint) { try parse("08ffffffffffffffffffff01") }
    }

    @Test func tagsAndLengthsEndAfterFiveBytes() throws {
        #expect(throws: ProtoError.overlongVarint) { try parse("3affffffffffffffffff01") }
        #expect(throws: ProtoError.overlongVarint) { try parse("ba80808080000000") }
        #expect(throws: ProtoError.truncated) { try parse("3affffffff7f") }
        #expect(throws: ProtoError.truncated) { try parse("3affffffff0f") }
        #expect(try parse("ba8080800000").message == .ping(Ping()))
        #expect(try parse("3a8080808000").message == .ping(Ping()))
    }

    @Test func unknownEnumValuesAreKept() throws {
        var request = MobileNotificationRequest()
        request.platformNumber = 77
        let envelope = Envelope(messageVersion: 10, message: .notificationRequest(request))
        let body = Array(envelope.frame.dropFirst())
        #expect(try Envelope(parsing: body) == envelope)
        #expect(request.platform == nil)
    }

    @Test func everyTextIsUTF8() {
        for field in ["0a02c328", "2202c328", "2a02c328", "3202c328", "12040a02c328"] {
            let count = String(field.count / 2, radix: 16)
            #expect(throws: ProtoError.notUTF8) { try parse("ca3e0" + count + field) }
        }
    }
}
