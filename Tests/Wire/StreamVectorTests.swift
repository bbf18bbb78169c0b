import Foundation
import Testing
import Vectors
import Wire

@Suite struct StreamVectorTests {
    struct Stream: Decodable, CustomTestStringConvertible, Sendable {
        var name: String
        var hex: String
        var chunk_ends: [Int]?
        var frame_lengths: [Int]?
        var kinds: [String]
        var then: String?
        var reply_hex: String?
        var testDescription: String { name }

        static let all = Swift.Result { try Vectors.bisq("streams", as: [Stream].self) }

        var chunks: [[UInt8]] {
            let stream = bytes(hex: hex)
            var start = 0
            return (chunk_ends ?? [stream.count]).map { end in
                defer { start = end }
                return Array(stream[start..<end])
            }
        }
    }

    private func kind(_ message: Message) -> String {
        switch message {
        case .ping: "ping"
        case .pong: "pong"
        case .getPeersRequest: "get_peers_request"
        case .closeConnection: "close_connection_message"
        case .unknown: "unknown"
        default: "other"
        }
    }

    private func readings(of stream: Stream) -> [[[UInt8]]] {
        let whole = bytes(hex: stream.hex)
        return [stream.chunks, Cutting.whole.pieces(of: whole), Cutting.singleBytes.pieces(of: whole)]
            + (1...20).map { Cutting.atRandom.pieces(of: whole, seed: $0) }
    }

    @Test(arguments: try Stream.all.get())
    func framesDoNotDependOnReads(stream: Stream) throws {
        for reads in readings(of: stream) {
            let (bodies, isIncomplete) = try frames(of: reads)
            #expect(!isIncomplete)
            #expect(try bodies.map { kind(try Envelope(parsing: $0).message) } == stream.kinds)
            if let lengths = stream.frame_lengths {
                #expect(bodies.map { $0.count + ($0.count < 128 ? 1 : 2) } == lengths)
            }
        }
    }

    @Test(arguments: try Stream.all.get())
    func repliesDoNotDependOnReads(stream: Stream) throws {
        for reads in readings(of: stream) {
            var session = PeerSession(network: .mainnet)
            let result = session.reaction(to: reads)
            switch stream.then {
            case .some(let then) where then.contains("INVALID_DATA_TYPE"):
                #expect(result.close == .invalidDataType)
                #expect(result.replies == bytes(hex: try #require(stream.reply_hex)))
            case .some(let then) where then.contains("UNKNOWN_EXCEPTION"):
                #expect(result.close == .senderAddressChanged)
                let first = GetPeersResponse(requestNonce: 1_234_567_890, supportedCapabilities: [9])
                #expect(
                    result.replies == Envelope(messageVersion: 10, message: .getPeersResponse(first)).frame)
            default:
                #expect(result.close == .requestedByPeer)
                let peers = GetPeersResponse(requestNonce: -559_038_737, supportedCapabilities: [9])
                #expect(
                    result.replies == bytes(hex: "0a080a420608d285d8cc04")
                        + Envelope(messageVersion: 10, message: .getPeersResponse(peers)).frame)
            }
        }
    }

    @Test func messageVersionsAreThoseOfBisq() throws {
        let versions = try Vectors.bisq("message_versions", as: [String: Int32].self)
        let names: [BisqNetwork: String] = [
            .mainnet: "BTC_MAINNET", .testnet: "BTC_TESTNET", .regtest: "BTC_REGTEST",
            .daoTestnet: "BTC_DAO_TESTNET", .daoBetanet: "BTC_DAO_BETANET", .daoRegtest: "BTC_DAO_REGTEST",
        ]
        #expect(BisqNetwork.allCases.count == versions.count)
        for network in BisqNetwork.allCases {
            #expect(network.messageVersion == versions[try #require(names[network])])
        }
    }
}
