import Testing
import Vectors
import Wire

/// A frame of the vectors, what is in it, and what follows from it.
struct FrameVector: Decodable, CustomTestStringConvertible, Sendable {
    struct Address: Decodable {
        var host_name: String
        var port: Int32
        var value: NodeAddress { NodeAddress(hostName: host_name, port: port) }
    }

    struct PeerEntry: Decodable {
        var node_address: Address
        var date: Int64
        var supported_capabilities: [Int32]
        var value: Peer {
            Peer(nodeAddress: node_address.value, date: date, supportedCapabilities: supported_capabilities)
        }
    }

    struct Pings: Decodable {
        var nonce: Int32
        var last_round_trip_time: Int32
    }

    struct Pongs: Decodable { var request_nonce: Int32 }
    struct Close: Decodable { var reason: String }
    struct Sender: Decodable { var sender_node_address: Address }

    struct PeersRequest: Decodable {
        var sender_node_address: Address
        var nonce: Int32
        var supported_capabilities: [Int32]
        var reported_peers: [PeerEntry]
    }

    struct PeersResponse: Decodable {
        var request_nonce: Int32
        var reported_peers: [PeerEntry]
        var supported_capabilities: [Int32]
    }

    struct DataRequest: Decodable { var supported_capabilities: [Int32] }

    /// An entry of a bundle: an envelope, or words about one that is dropped.
    enum Entry: Decodable {
        case envelope(Decoded)
        case dropped

        init(from decoder: any Decoder) throws {
            if (try? decoder.singleValueContainer().decode(String.self)) != nil {
                self = .dropped
            } else {
                self = .envelope(try Decoded(from: decoder))
            }
        }
    }

    struct Decoded: Decodable {
        var message_version: Int32?
        var error: String?
        var unknown_field: Int32?
        var ping: Pings?
        var pong: Pongs?
        var close_connection_message: Close?
        var bundle_of_envelopes: [Entry]?
        var get_peers_request: PeersRequest?
        var get_peers_response: PeersResponse?
        var ack_message: Sender?
        var preliminary_get_data_request: DataRequest?
        var get_updated_data_request: Sender?
        var private_notification_message: Sender?

        var envelope: Envelope? {
            guard let message_version else { return nil }
            return Envelope(messageVersion: message_version, message: message)
        }

        private var message: Message {
            if let ping {
                return .ping(Ping(nonce: ping.nonce, lastRoundTripTime: ping.last_round_trip_time))
            }
            if let pong { return .pong(Pong(requestNonce: pong.request_nonce)) }
            if let close_connection_message {
                return .closeConnection(CloseConnectionMessage(reason: close_connection_message.reason))
            }
            if let bundle_of_envelopes {
                return .bundle(
                    bundle_of_envelopes.compactMap { entry in
                        if case .envelope(let decoded) = entry { decoded.envelope } else { nil }
                    })
            }
            if let request = get_peers_request {
                return .getPeersRequest(
                    GetPeersRequest(
                        senderNodeAddress: request.sender_node_address.value, nonce: request.nonce,
                        supportedCapabilities: request.supported_capabilities,
                        reportedPeers: request.reported_peers.map(\.value)))
            }
            if let response = get_peers_response {
                return .getPeersResponse(
                    GetPeersResponse(
                        requestNonce: response.request_nonce,
                        reportedPeers: response.reported_peers.map(\.value),
                        supportedCapabilities: response.supported_capabilities))
            }
            if let ack_message { return swallowed(32, sender: ack_message) }
            if let get_updated_data_request { return swallowed(4, sender: get_updated_data_request) }
            if private_notification_message != nil { return swallowed(27) }
            if let request = preliminary_get_data_request {
                return swallowed(2, capabilities: request.supported_capabilities)
            }
            if let unknown_field { return .unknown(number: unknown_field) }
            return .missing
        }

        private func swallowed(_ number: UInt32, sender: Sender? = nil, capabilities: [Int32] = []) -> Message
        {
            var message = SwallowedMessage(number: number)
            message.senderNodeAddress = sender?.sender_node_address.value
            message.supportedCapabilities = capabilities
            return .swallowed(message)
        }
    }

    var name: String
    var hex: String
    var decoded: Decoded
    var bisq1: String
    var reply_hex: String?

    var testDescription: String { name }

    static let all = Swift.Result { try Vectors.bisq("frames", as: [FrameVector].self) }
}

@Suite struct FrameVectorTests {
    @Test(arguments: try FrameVector.all.get())
    func aFrameIsReadAsBisqReadsIt(vector: FrameVector) throws {
        guard let (bodies, isIncomplete) = try? frames(of: [bytes(hex: vector.hex)], maximumLength: .max)
        else {
            return #expect(vector.decoded.error == "over-long varint" || vector.name.contains("to 10 bytes"))
        }
        guard !isIncomplete else {
            return #expect(vector.decoded.error.map { $0.contains("ends") || $0.contains("length") } == true)
        }
        guard let body = bodies.first else { return #expect(vector.hex.isEmpty) }
        if let expected = vector.decoded.envelope {
            #expect(try Envelope(parsing: body) == expected)
        } else {
            #expect(throws: ProtoError.self) { try Envelope(parsing: body) }
        }
    }

    /// What the node has to do with the frame, in the words of the vector and of the design where that is stricter.
    private func expectation(_ vector: FrameVector) throws -> Reaction {
        var result = Reaction(frameCount: 1)
        let lost = [
            "overlong", "over-long varint", "length 4294967295", "length 2147483647", "limit 10485760",
        ]
        if let error = vector.decoded.error, lost.contains(where: error.contains) { return tooLarge }
        switch vector.name {
        case "length prefix padded to 10 bytes": return tooLarge
        case "truncated body", "truncated length prefix":
            return Reaction(isFrameIncomplete: true)
        case "end of stream before any byte": return Reaction()
        case "bundle of two pings":
            let second = Envelope(messageVersion: 10, message: .pong(Pong(requestNonce: 42)))
            result.replies = bytes(hex: "0a080a420608d285d8cc04") + second.frame
            return result
        case "bundle with one unknown entry", "bundle whose entries carry another message_version":
            result.replies = bytes(hex: "0a080a420608d285d8cc04")
            return result
        default: break
        }
        if vector.bisq1.contains("CLOSE_REQUESTED_BY_PEER") {
            result.close = .requestedByPeer
        } else if vector.bisq1.contains("MANDATORY_CAPABILITIES_NOT_SUPPORTED") {
            result.close = .mandatoryCapabilityMissing
        } else if vector.bisq1.contains("WRONG_NETWORK_ID") {
            result.close = .wrongNetworkID
            result.replies = bytes(hex: "16080a7a120a1057524f4e475f4e4554574f524b5f4944")
        } else if let request = vector.decoded.get_peers_request {
            let response = GetPeersResponse(requestNonce: request.nonce, supportedCapabilities: [9])
            result.replies = Envelope(messageVersion: 10, message: .getPeersResponse(response)).frame
        } else if let reply = vector.reply_hex {
            result.replies = bytes(hex: reply)
        }
        return result
    }

    private var tooLarge: Reaction {
        let message = CloseConnectionMessage(reason: "MAX_MSG_SIZE_EXCEEDED")
        return Reaction(
            replies: Envelope(messageVersion: 10, message: .closeConnection(message)).frame,
            close: .messageTooLarge)
    }

    @Test(arguments: try FrameVector.all.get(), Cutting.allCases)
    func aFrameIsAnsweredAsAStrictNodeShould(vector: FrameVector, cutting: Cutting) throws {
        var session = PeerSession(network: .mainnet)
        var result = session.reaction(to: cutting.pieces(of: bytes(hex: vector.hex)))
        let expected = try expectation(vector)
        if expected.close == .messageTooLarge { result.isFrameIncomplete = false }
        #expect(result == expected)
    }

    @Test(arguments: try FrameVector.all.get().filter { $0.bisq1.contains("INVALID_DATA_TYPE, tolerance 2") })
    func theFirstFrameWithoutMeaningIsForgivenAndTheSecondCloses(vector: FrameVector) {
        let frame = bytes(hex: vector.hex)
        var session = PeerSession(network: .mainnet)
        #expect(session.reaction(to: [frame]) == Reaction(frameCount: 1))
        let ping = bytes(hex: "0a080a3a0608d285d8cc04")
        let closing = session.reaction(to: [ping + frame + ping])
        #expect(closing.close == .invalidDataType)
        #expect(closing.frameCount == 2)
        #expect(
            closing.replies == bytes(hex: "0a080a420608d285d8cc04")
                + bytes(hex: "17080a7a130a11494e56414c49445f444154415f54595045"))
    }
}
