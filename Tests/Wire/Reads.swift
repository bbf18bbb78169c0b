import Clocks
import Wire

/// Everything a stream of bytes leads to, however it was read.
struct Reaction: Equatable {
    var replies: [UInt8] = []
    var requests: [MobileNotificationRequest] = []
    var wayBack: [PeerTurn.WayBack] = []
    var close: PeerClose?
    var frameCount = 0
    var isFrameIncomplete = false
}

extension PeerSession {
    /// Feeds the pieces one after the other at the same moment.
    mutating func reaction(to pieces: [[UInt8]], at now: MonotonicTime = 0) -> Reaction {
        var turn = PeerTurn()
        var result = Reaction()
        for piece in pieces {
            turn.clear()
            receive(piece, at: now, into: &turn)
            result.replies += turn.replies
            result.requests += turn.requests
            result.wayBack += turn.wayBack
            result.close = result.close ?? turn.close
            result.frameCount += turn.frameCount
        }
        result.isFrameIncomplete = isFrameIncomplete
        return result
    }
}

/// The ways in which a stream is cut into reads.
enum Cutting: CaseIterable, Sendable {
    case whole, singleBytes, atRandom

    func pieces(of stream: [UInt8], seed: UInt64 = 1) -> [[UInt8]] {
        switch self {
        case .whole: return [stream]
        case .singleBytes: return stream.map { [$0] }
        case .atRandom:
            var random = SeededRandom(seed: seed)
            var pieces: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(rest.count, 40), using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return pieces
        }
    }
}

/// Splitmix64: the same numbers for the same seed, everywhere.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}

/// The frames of a stream, whichever way it is read.
func frames(
    of pieces: [[UInt8]], maximumLength: Int = 65_536
) throws(FrameError) -> (frames: [[UInt8]], isIncomplete: Bool) {
    var decoder = FrameDecoder(maximumLength: maximumLength)
    var frames: [[UInt8]] = []
    for piece in pieces {
        var position = 0
        while let frame = try decoder.nextFrame(in: piece.span, from: &position) {
            switch frame {
            case .within(let range): frames.append(Array(piece[range]))
            case .assembled(let body): frames.append(body)
            }
        }
    }
    return (frames, decoder.isIncomplete)
}
