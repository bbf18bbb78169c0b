import Testing
import Vectors
import Wire

@Suite struct FrameSizeTests {
    struct SizedFrame: Decodable, CustomTestStringConvertible, Sendable {
        var name: String
        var kind: String
        var envelope_bytes: Int
        var frame_bytes: Int
        var reason: String
        var testDescription: String { name }

        static let all = Swift.Result { try Vectors.bisq("frame_sizes", as: [SizedFrame].self) }

        /// The frame as the vector says to build it: a close message, by itself or in a bundle.
        var frame: [UInt8] {
            let count = Int(reason.split(separator: " ").dropFirst(2).first!)!
            let close = Envelope(
                messageVersion: 10,
                message: .closeConnection(
                    CloseConnectionMessage(reason: String(repeating: "x", count: count))))
            guard kind == "bundle_of_envelopes" else { return close.frame }
            return Envelope(messageVersion: 10, message: .bundle([close])).frame
        }
    }

    @Test(arguments: try SizedFrame.all.get(), [65_536, 204_800, 10_485_760])
    func aFrameOverTheLimitIsRefusedBeforeItsBody(sized: SizedFrame, limit: Int) throws {
        let frame = sized.frame
        #expect(frame.count == sized.frame_bytes)
        var limits = PeerSession.Limits()
        limits.frameLength = limit
        var session = PeerSession(network: .mainnet, limits: limits)
        if sized.envelope_bytes <= limit {
            let result = session.reaction(to: [Array(frame.prefix(1_000)), Array(frame.dropFirst(1_000))])
            // Closing within a bundle is no request to close.
            #expect(result.close == (sized.kind == "bundle_of_envelopes" ? nil : .requestedByPeer))
            #expect(result.replies.isEmpty)
        } else {
            let prefix = Array(frame.prefix(frame.count - sized.envelope_bytes))
            let result = session.reaction(to: [prefix])
            #expect(result.close == .messageTooLarge)
        }
    }

    @Test func theLargestFrameIsAcceptedAndTheNextSizeRefused() throws {
        for cutting in [Cutting.whole, .atRandom] {
            let largest: [UInt8] = [3, 1, 2, 3, 0, 3, 4, 5, 6]
            let read = try frames(of: cutting.pieces(of: largest), maximumLength: 3)
            #expect(read.frames == [[1, 2, 3], [], [4, 5, 6]])
        }
        #expect(throws: FrameError.tooLong(length: 4, maximum: 3)) { try frames(of: [[4]], maximumLength: 3) }
    }

    @Test func aPrefixOfFiveBytesIsReadAndASixthIsRefusedUnread() throws {
        #expect(try frames(of: [[0x81, 0x80, 0x80, 0x80, 0x00, 7]]).frames == [[7]])
        #expect(throws: FrameError.overlongPrefix) { try frames(of: [[0x81, 0x80, 0x80, 0x80, 0x80]]) }
    }

    @Test(arguments: [1, 7, 1_000, 65_535])
    func cutFramesCostTimeInProportionToTheirBytes(readSize: Int) throws {
        /// The best of three, for four frames with bodies of so many bytes.
        func cost(length: [UInt8], bytes: Int) -> Duration {
            let stream = Array(
                repeatElement(length + [UInt8](repeating: 7, count: bytes), count: 4).joined())
            return (0..<3).map { _ in
                var decoder = FrameDecoder(maximumLength: 65_536)
                var count = 0
                let elapsed = processorTime {
                    for start in stride(from: 0, to: stream.count, by: readSize) {
                        let read = Array(stream[start..<min(start + readSize, stream.count)])
                        var position = 0
                        while (try? decoder.nextFrame(in: read.span, from: &position)) != nil { count += 1 }
                    }
                }
                #expect(count == 4)
                #expect(!decoder.isIncomplete)
                return elapsed
            }.min()!
        }
        // Sixteen times the bytes: 16 times the time, and 256 times if each read cost what the frame has so far.
        let (small, large) = (
            cost(length: [0x80, 0x20], bytes: 4096), cost(length: [0x80, 0x80, 0x04], bytes: 65_536)
        )
        #expect(large < small * 64 + .milliseconds(20))
    }

    @Test func anIdleSessionIsSmall() {
        #expect(MemoryLayout<PeerSession>.size <= 400)
    }
}
