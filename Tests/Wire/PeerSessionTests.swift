import Clocks
import Testing
import Vectors

@testable import Wire

@Suite struct PeerSessionTests {
    private let ping = bytes(hex: "0a080a3a0608d285d8cc04")

    private func frame(_ message: Message, version: Int32 = 10) -> [UInt8] {
        Envelope(messageVersion: version, message: message).frame
    }

    private func request(uid: String) -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        request.uid = uid
        request.platform = .ios
        request.deviceToken = String(repeating: "ab", count: 32)
        request.message = String(repeating: "QUJD", count: 64)
        request.isUrgent = true
        return request
    }

    private func closing(_ word: String) -> [UInt8] {
        frame(.closeConnection(CloseConnectionMessage(reason: word)))
    }

    @Test(arguments: Cutting.allCases)
    func requestsAreHandedOnInOrder(cutting: Cutting) {
        let requests = (1...50).map { request(uid: "uid-\($0)") }
        let stream = Array(requests.map { frame(.notificationRequest($0)) }.joined())
        var session = PeerSession(network: .mainnet)
        let reaction = session.reaction(to: cutting.pieces(of: stream))
        #expect(reaction == Reaction(requests: requests, frameCount: 50))
    }

    @Test(arguments: Cutting.allCases)
    func whatIsAskedOfTheWayBackIsHandedOnInOrderAndAnswersAreNot(cutting: Cutting) {
        var post = MobileReplyRequest()
        (post.uid, post.sealed) = ("1", Array(repeating: 7, count: 300))
        var fetch = MobileReplyFetch()
        (fetch.uid, fetch.acknowledged) = ("2", 1 << 40)
        let messages: [Message] = [
            .replyRequest(post), .replyResponse(MobileNotificationResponse()), .replyFetch(fetch),
            .replies(MobileReplies(requestUid: "3", replies: [.init(number: 1, sealed: [1])])),
            .bundle([Envelope(messageVersion: 10, message: .replyRequest(post))]),
        ]
        var session = PeerSession(network: .mainnet)
        let reaction = session.reaction(to: cutting.pieces(of: Array(messages.map { frame($0) }.joined())))
        #expect(reaction == Reaction(wayBack: [.post(post), .fetch(fetch), .post(post)], frameCount: 5))
    }

    @Test(arguments: BisqNetwork.allCases)
    func aNetworkSpeaksItsOwnVersionOnly(network: BisqNetwork) {
        for version in Int32(9)...16 {
            var session = PeerSession(network: network)
            let reaction = session.reaction(to: [frame(.ping(Ping(nonce: 1)), version: version)])
            if version == network.messageVersion {
                #expect(reaction.replies == frame(.pong(Pong(requestNonce: 1)), version: version))
            } else {
                #expect(reaction.close == .wrongNetworkID)
            }
        }
    }

    @Test func the200thFrameInASecondIsForgivenAndThe201stCloses() {
        var session = PeerSession(network: .mainnet)
        let first = session.reaction(to: [Array([[UInt8]](repeating: ping, count: 200).joined())])
        #expect(first.close == nil)
        #expect(first.replies.count == 200 * 11)
        let second = session.reaction(to: [ping + ping])
        #expect(second.close == .throttleExceeded)
        #expect(second.replies == closing("THROTTLE_LIMIT_EXCEEDED"))
        #expect(second.frameCount == 1)
    }

    @Test func the1000thFrameInTenSecondsIsForgivenAndTheNextCloses() {
        var session = PeerSession(network: .mainnet)
        for index in 0..<1_000 {
            let reaction = session.reaction(
                to: [ping], at: MonotonicTime(nanoseconds: Int64(index) * 9_900_000))
            #expect(reaction.close == nil)
        }
        #expect(session.reaction(to: [ping], at: 9_901_000_000).close == .throttleExceeded)
    }

    @Test func aBundleOfThousandsCountsAsManyFrames() {
        func bundle(_ count: Int32) -> [UInt8] {
            frame(.bundle((0..<count).map { Envelope(messageVersion: 0, message: .ping(Ping(nonce: $0))) }))
        }
        var session = PeerSession(network: .mainnet)
        // 199 frames, and each ping is answered.
        let allowed = session.reaction(to: [bundle(198 * 32)])
        #expect(allowed.close == nil)
        #expect(try! frames(of: [allowed.replies]).frames.count == 198 * 32)
        #expect(session.reaction(to: [bundle(32)]).close == .throttleExceeded)
        // What a Bisq peer or a busy sender bundles is one frame.
        var sender = PeerSession(network: .mainnet)
        let bundles = [[UInt8]](repeating: bundle(31), count: 199)
        #expect(sender.reaction(to: bundles).close == nil)
        #expect(sender.reaction(to: [ping]).close == nil)
        #expect(sender.reaction(to: [ping]).close == .throttleExceeded)
    }

    @Test func whoKeepsToTheLimitsIsNeverAccused() {
        var session = PeerSession(network: .mainnet)
        // 99 a second for five minutes: 990 in ten seconds.
        for index in 0..<29_700 {
            let now = Int64(index) * 1_000_000_000 / 99
            #expect(session.reaction(to: [ping], at: MonotonicTime(nanoseconds: now)).close == nil)
        }
    }

    @Test func anyOutcomeOfARuleIsToldBeforeClosing() {
        for reason in PeerClose.allCases {
            var session = PeerSession(network: .mainnet)
            var turn = PeerTurn()
            session.close(reason, into: &turn)
            #expect(turn.close == reason)
            #expect(turn.replies == (reason.word.map(closing) ?? []))
            turn.clear()
            session.close(.shutDown, into: &turn)
            #expect(turn.close == nil)
            #expect(turn.replies.isEmpty)
        }
    }

    @Test func nothingIsReadBehindAClosing() {
        var session = PeerSession(network: .mainnet)
        let close = frame(.closeConnection(CloseConnectionMessage(reason: "APP_SHUT_DOWN")))
        let stream = frame(.notificationRequest(request(uid: "1"))) + close + ping
        let reaction = session.reaction(to: [stream, ping])
        #expect(reaction.requests.map(\.uid) == ["1"])
        #expect(reaction.close == .requestedByPeer)
        #expect(reaction.replies.isEmpty)
        #expect(session.closeReason == .requestedByPeer)
    }

    @Test func equalEntriesOfABundleCountOnce() {
        let entry = Envelope(messageVersion: 10, message: .notificationRequest(request(uid: "1")))
        let other = Envelope(messageVersion: 10, message: .notificationRequest(request(uid: "2")))
        var session = PeerSession(network: .mainnet)
        let reaction = session.reaction(to: [frame(.bundle([entry, other, entry]))])
        #expect(reaction.requests.map(\.uid) == ["1", "2"])
    }

    @Test func aBundleWithinABundleIsRefused() {
        let bundle = bytes(hex: "16080ada02110a0fda020c0a0a080a3a0608d285d8cc04")
        var session = PeerSession(network: .mainnet)
        #expect(session.reaction(to: [bundle]) == Reaction(frameCount: 1))
        #expect(session.reaction(to: [bundle]).close == .invalidDataType)
    }

    @Test func tooManyReportedPeersAreForgivenOnce() {
        let peers = [Peer](repeating: Peer(), count: 1_041)
        let request = frame(.getPeersRequest(GetPeersRequest(nonce: 7, reportedPeers: peers)))
        let allowed = frame(
            .getPeersRequest(GetPeersRequest(nonce: 7, reportedPeers: Array(peers.dropLast()))))
        let answer = frame(.getPeersResponse(GetPeersResponse(requestNonce: 7, supportedCapabilities: [9])))
        var session = PeerSession(network: .mainnet)
        let first = session.reaction(to: [allowed, allowed, request])
        #expect(first == Reaction(replies: answer + answer + answer, frameCount: 3))
        let second = session.reaction(to: [request])
        #expect(second.close == .tooManyReportedPeers)
        #expect(second.replies == answer + closing("TOO_MANY_REPORTED_PEERS_SENT"))
    }

    @Test(arguments: ["12041a020102", "1a0422020102", "32041a020102"])
    func theMandatoryCapabilityIsLookedForWhereverBisqDoes(member: String) {
        var session = PeerSession(network: .mainnet)
        let body = bytes(hex: "080a" + member)
        #expect(session.reaction(to: [[UInt8(body.count)] + body]).close == .mandatoryCapabilityMissing)
    }

    @Test func theSenderAddressMustStayTheSameInAllMessagesThatStateIt() {
        let first = NodeAddress(hostName: "a.onion", port: 1)
        let request = frame(.getPeersRequest(GetPeersRequest(senderNodeAddress: first)))
        let ack = bytes(hex: "12080a82020d120b0a07612e6f6e696f6e1002")  // a.onion:2
        var session = PeerSession(network: .mainnet)
        let reaction = session.reaction(to: [request, request, ack])
        #expect(reaction.close == .senderAddressChanged)
        #expect(reaction.frameCount == 3)
    }

    @Test func aNotificationsSenderAddressIsItsOwnAffair() {
        var stream: [UInt8] = []
        for port in Int32(1)...3 {
            var request = request(uid: "\(port)")
            request.senderNodeAddress = NodeAddress(hostName: "a.onion", port: port)
            stream += frame(.notificationRequest(request))
        }
        var session = PeerSession(network: .mainnet)
        #expect(session.reaction(to: [stream]).requests.count == 3)
    }

    @Test func allThatBisqKnowsIsSwallowedAndTheRestIsNot() {
        for number in UInt32(2)...70 where ![5, 6, 7, 8, 15, 43].contains(number) {
            var session = PeerSession(network: .mainnet)
            var writer = ProtoWriter()
            writer.delimited { writer in
                writer.int32(1, 10)
                writer.message(number) { $0.string(200, "x") }
            }
            let reaction = session.reaction(to: [writer.bytes, writer.bytes])
            let isKnown = number <= 63 && ![50, 51, 60].contains(number)
            #expect(reaction.close == (isKnown ? nil : .invalidDataType), "\(number)")
        }
    }

    @Test func anIncompleteFrameIsKnown() {
        var session = PeerSession(network: .mainnet)
        #expect(!session.isFrameIncomplete)
        for byte in ping.dropLast() {
            _ = session.reaction(to: [[byte]])
            #expect(session.isFrameIncomplete)
        }
        _ = session.reaction(to: [ping.suffix(1)])
        #expect(!session.isFrameIncomplete)
    }

    @Test func theRateIsCountedPerSpan() {
        var rate = FrameRate(limit: 3, withinSeconds: 1)
        let times: [(Int64, Bool)] = [
            (5_000_000_000, false), (5_400_000_000, false), (5_900_000_000, true),
            (6_000_000_001, true),  // the first is gone, the third is not
            (7_400_000_000, false),
            (90_000_000_000, false),  // all are gone
            (80_000_000_000, false),  // a clock that went back stood still
            (90_000_000_000, true),
        ]
        for (time, isTooMany) in times {
            let result = rate.exceeds(at: MonotonicTime(nanoseconds: time))
            #expect(result == isTooMany, "at \(time)")
        }
    }
}
