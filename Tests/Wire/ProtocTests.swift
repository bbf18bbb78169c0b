import Encodings
import Foundation
import Testing
import Vectors
import Wire

/// The committed contract and the hand-written code say the same, with protoc as the witness.
@Suite struct ProtocTests {
    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    private var contract: URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Core/Wire/onionbell.proto").standardizedFileURL
    }

    /// Runs Debian's protoc (package protobuf-compiler) on the contract.
    private func protoc(_ mode: String, _ input: Data) throws -> Data {
        let run = try ProgramRun(
            [
                "protoc", "--\(mode)=onionbell.NetworkEnvelope",
                "--proto_path=\(contract.deletingLastPathComponent().path)", contract.lastPathComponent,
            ], input: Array(input))
        guard run.status == 0 else { throw Refused(description: run.errorText) }
        return Data(run.output)
    }

    private func body(_ envelope: Envelope) throws -> [UInt8] {
        try #require(try frames(of: [envelope.frame]).frames.first)
    }

    static let texts: [(String, Message)] = {
        var full = MobileNotificationRequest()
        full.uid = "8b1f9f0e-7a51-4b52-9d0e-0b6f2f0d4f6a"
        full.senderNodeAddress = NodeAddress(hostName: "abc.onion", port: 9_999)
        full.platform = .android
        full.app = "bisq-remote-android"
        full.deviceToken = "aku-XrLQ:APA91b"
        full.message = "BisqMessageAndroid|44bddb02f8774c40|AAAA"
        full.isUrgent = true
        full.hasSound = true
        full.isMutableContent = true
        full.isContentAvailable = true
        full.expiresAt = 1_655_910_136_568
        full.awaitsOutcome = true
        full.hops = 4_294_967_295
        let fullText = """
            mobile_notification_request { uid: "8b1f9f0e-7a51-4b52-9d0e-0b6f2f0d4f6a"
            sender_node_address { host_name: "abc.onion" port: 9999 } platform: ANDROID
            app: "bisq-remote-android" device_token: "aku-XrLQ:APA91b"
            message: "BisqMessageAndroid|44bddb02f8774c40|AAAA" urgent: true sound: true mutable_content: true
            content_available: true expires_at: 1655910136568 await_outcome: true
            hops: 4294967295 }
            """
        let statuses = MobileNotificationResponse.Status.allCases.map { status in
            let names: [MobileNotificationResponse.Status: String] = [
                .stored: "STORED", .delivered: "DELIVERED", .refused: "REFUSED", .tokenDead: "TOKEN_DEAD",
                .expired: "EXPIRED", .busy: "BUSY",
            ]
            return (
                """
                mobile_notification_response { request_uid: "u" status: \(names[status]!)
                reason: "BadMessage" retry_after_ms: 1500 }
                """,
                Message.notificationResponse(
                    MobileNotificationResponse(
                        requestUid: "u", status: status, reason: "BadMessage", retryAfterMilliseconds: 1_500))
            )
        }
        let platforms = ["IOS": Platform.ios, "IOS_DEV": .iosDev].map { name, platform in
            var request = MobileNotificationRequest()
            request.platform = platform
            return ("mobile_notification_request { platform: \(name) }", Message.notificationRequest(request))
        }
        let peer = Peer(
            nodeAddress: NodeAddress(hostName: "p.onion", port: -1), date: -5,
            supportedCapabilities: [0, 9, -3])
        let peerText =
            "{ node_address { host_name: \"p.onion\" port: -1 } date: -5 supported_capabilities: [0, 9, -3] }"
        let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: .min, lastRoundTripTime: .max)))
        var post = MobileReplyRequest()
        (post.uid, post.mailbox, post.channel, post.sealed) = ("u", "mb1:a", "c", [0, 1, 255])
        var fetch = MobileReplyFetch()
        (fetch.uid, fetch.mailbox, fetch.channel) = ("u", "mb1:a", "c")
        (fetch.acknowledged, fetch.waitMilliseconds) = (.max, 120_000)
        let wayBack: [(String, Message)] = [
            (
                #"mobile_reply_request { uid: "u" mailbox: "mb1:a" channel: "c" sealed: "\000\001\377" }"#,
                .replyRequest(post)
            ), ("mobile_reply_request {}", .replyRequest(MobileReplyRequest())),
            (
                #"mobile_reply_response { request_uid: "u" status: BUSY reason: "Busy" retry_after_ms: 60000 }"#,
                .replyResponse(
                    MobileNotificationResponse(
                        requestUid: "u", status: .busy, reason: "Busy", retryAfterMilliseconds: 60_000))
            ),
            (
                """
                mobile_reply_fetch { uid: "u" mailbox: "mb1:a" channel: "c" acknowledged: 9223372036854775807
                wait_ms: 120000 }
                """, .replyFetch(fetch)
            ),
            (
                #"mobile_replies { request_uid: "u" replies { number: 7 sealed: "a" } replies {} }"#,
                .replies(
                    MobileReplies(requestUid: "u", replies: [.init(number: 7, sealed: [97]), .init()]))
            ),
            (
                #"mobile_replies { request_uid: "u" reason: "NoSuchMailbox" }"#,
                .replies(MobileReplies(requestUid: "u", reason: "NoSuchMailbox"))
            ),
        ]
        return statuses + platforms + wayBack + [
            (fullText, .notificationRequest(full)),
            ("mobile_notification_request {}", .notificationRequest(MobileNotificationRequest())),
            ("ping { nonce: -2147483648 last_round_trip_time: 2147483647 }", ping.message),
            ("pong {}", .pong(Pong())),
            ("pong { request_nonce: 3 }", .pong(Pong(requestNonce: 3))),
            (
                "close_connection_message { reason: \"Grüße\" }",
                .closeConnection(CloseConnectionMessage(reason: "Grüße"))
            ),
            (
                """
                get_peers_request { sender_node_address {} nonce: 300 supported_capabilities: [0, 9, 300]
                reported_peers \(peerText) reported_peers {} }
                """,
                .getPeersRequest(
                    GetPeersRequest(
                        senderNodeAddress: NodeAddress(), nonce: 300, supportedCapabilities: [0, 9, 300],
                        reportedPeers: [peer, Peer()]))
            ),
            (
                "get_peers_response { request_nonce: -1 reported_peers \(peerText) supported_capabilities: 9 }",
                .getPeersResponse(
                    GetPeersResponse(requestNonce: -1, reportedPeers: [peer], supportedCapabilities: [9]))
            ),
            (
                """
                bundle_of_envelopes { envelopes { message_version: 10
                ping { nonce: -2147483648 last_round_trip_time: 2147483647 } } }
                """,
                .bundle([ping])
            ),
        ]
    }()

    @Test(arguments: texts.indices)
    func protocsBytesAreReadAndWritten(index: Int) throws {
        let (text, message) = Self.texts[index]
        let encoded = Array(try protoc("encode", Data("message_version: 10 \(text)".utf8)))
        let envelope = Envelope(messageVersion: 10, message: message)
        #expect(try Envelope(parsing: encoded) == envelope)
        #expect(try body(envelope) == encoded)
    }

    @Test func swallowedMessagesAreReadWhereTheContractHasThem() throws {
        let texts: [(String, NodeAddress?, [Int32])] = [
            ("preliminary_get_data_request { supported_capabilities: [1, 9] }", nil, [1, 9]),
            ("get_data_response { supported_capabilities: [1, 9] }", nil, [1, 9]),
            ("get_updated_data_request { sender_node_address { port: 1 } }", NodeAddress(port: 1), []),
            ("prefixed_sealed_and_signed_message { node_address { port: 2 } }", NodeAddress(port: 2), []),
            ("get_blocks_request { sender_node_address { port: 3 } }", NodeAddress(port: 3), []),
            ("ack_message { sender_node_address { port: 4 } }", NodeAddress(port: 4), []),
        ]
        for (text, sender, capabilities) in texts {
            let encoded = Array(try protoc("encode", Data(text.utf8)))
            guard case .swallowed(let message) = try Envelope(parsing: encoded).message else {
                Issue.record("\(text) was not swallowed")
                continue
            }
            #expect(message.senderNodeAddress == sender)
            #expect(message.supportedCapabilities == capabilities)
        }
    }

    /// Bytes are changed at random; both readers take them, or both refuse.
    @Test(arguments: UInt64(1)...5)
    func damagedMessagesAreRefusedAsProtocRefusesThem(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for (_, message) in Self.texts {
            var damaged = try body(Envelope(messageVersion: 10, message: message))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { damaged.removeLast(Int.random(in: 0...2, using: &random)) }
            let decoded = Swift.Result { try protoc("decode", Data(damaged)) }
            let parsed = Swift.Result { try Envelope(parsing: damaged) }
            let hex = damaged.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            switch (decoded, parsed) {
            case (.success, .success), (.failure, .failure): break
            case (.success(let text), .failure(let error)):
                Issue.record(
                    "\(hex): protoc took it as \(String(decoding: text, as: UTF8.self)), not we: \(error)")
            case (.failure(let error), .success): Issue.record("\(hex): protoc refused it, not we: \(error)")
            }
        }
    }
}
