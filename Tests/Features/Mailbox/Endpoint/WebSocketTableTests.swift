import Doors
import HTTP1
import Reactor
import Testing

@testable import MailboxEndpoint

/// Frames of clients, well and badly made, and what each is answered: the rows of a WebSocket conformance suite that concern an
/// endpoint which takes pings, pongs and closes.
extension MailboxSocketTests {
    nonisolated struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        /// What it is answered, the close at the end.
        let answers: [WebSocketMessage]

        var testDescription: String { name }

        init(_ name: String, _ frames: [[UInt8]], _ answers: [WebSocketMessage]) {
            (self.name, bytes, self.answers) = (name, frames.flatMap(\.self), answers)
        }

        static func frame(_ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true, reserved: UInt8 = 0)
            -> [UInt8]
        {
            let mask: [UInt8] = [0xA5, 0x5A, 0x0F, 0xF0]
            let length: [UInt8] =
                payload.count < 126
                ? [0x80 | UInt8(payload.count)]
                : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            return [(isLast ? 0x80 : 0) | reserved << 4 | opcode] + length + mask
                + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
        }

        static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
            frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
        }

        static func text(_ text: String) -> [UInt8] { frame(1, Array(text.utf8)) }

        static let bye = frame(8, [])

        static let closings: [Row] =
            [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]
            .map { Row("close \($0)", [close($0)], [.close(code: 1000)]) }
            + [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 1999, 2000, 2999, 5000, 65535]
            .map { Row("forbidden close \($0)", [close($0)], [.close(code: 1002)]) }
            + [
                Row("close without a code", [bye], [.close(code: 1000)]),
                Row("close of one byte", [frame(8, [3])], [.close(code: 1002)]),
                Row("close with a reason", [close(1000, Array("Grüße".utf8))], [.close(code: 1000)]),
                Row("longest reason", [close(1000, .init(repeating: 97, count: 123))], [.close(code: 1000)]),
                Row(
                    "too long a reason", [close(1000, .init(repeating: 97, count: 124))], [.close(code: 1002)]
                ),
                Row("reason cut in a character", [close(1000, [0xC3])], [.close(code: 1007)]),
                Row("reason of surrogates", [close(1001, [0xED, 0xA0, 0x80])], [.close(code: 1007)]),
                Row("reason beyond Unicode", [close(3000, [0xF4, 0x90, 0x80, 0x80])], [.close(code: 1007)]),
                Row("forbidden code, bad reason", [close(1005, [0xFF])], [.close(code: 1002)]),
                Row("close in pieces", [frame(8, [3, 0xE8], isLast: false)], [.close(code: 1002)]),
                Row("text after close", [bye, text("a")], [.close(code: 1000)]),
                Row("two closes", [close(1000), close(999)], [.close(code: 1000)]),
            ]

        static let frames: [Row] =
            [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]
            .map { Row("opcode \($0)", [frame($0, [])], [.close(code: 1002)]) }
            + [1, 2, 4, 7]
            .map { Row("reserved bits \($0)", [frame(1, [97], reserved: $0)], [.close(code: 1002)]) }
            + [
                Row("ping", [frame(9, [1, 2]), bye], [.pong([1, 2]), .close(code: 1000)]),
                Row("ping of nothing", [frame(9, []), bye], [.pong([]), .close(code: 1000)]),
                Row(
                    "longest ping", [frame(9, .init(repeating: 7, count: 125)), bye],
                    [.pong(.init(repeating: 7, count: 125)), .close(code: 1000)]),
                Row("too long a ping", [frame(9, .init(repeating: 7, count: 126))], [.close(code: 1002)]),
                Row("ping in pieces", [frame(9, [1], isLast: false)], [.close(code: 1002)]),
                Row("pong that nobody asked for", [frame(10, [1]), bye], [.close(code: 1000)]),
                Row(
                    "ten pings", (0..<10).map { frame(9, [$0]) } + [bye],
                    (0..<10).map { .pong([$0]) } + [.close(code: 1000)]),
                Row("text", [text("Grüße"), bye], [.close(code: 1000)]),
                Row(
                    "text in pieces with a ping between",
                    [frame(1, [0xC3], isLast: false), frame(9, [5]), frame(0, [0xBC]), bye],
                    [.pong([5]), .close(code: 1000)]),
                Row("a piece of nothing", [frame(0, [97])], [.close(code: 1002)]),
                Row(
                    "a text within another", [frame(1, [97], isLast: false), text("b")], [.close(code: 1002)]),
                Row("binary", [frame(2, [1])], [.close(code: 1003)]),
                Row("overlong", [frame(1, [0xC0, 0xAF])], [.close(code: 1007)]),
                Row("surrogates", [frame(1, [0xED, 0xA0, 0x80])], [.close(code: 1007)]),
                Row(
                    "pieces that are no text", [frame(1, [0xCE], isLast: false), frame(0, [0x61])],
                    [.close(code: 1007)]),
            ]
    }

    @Test(arguments: Row.closings + Row.frames) func aClientIsAnsweredAsTheStandardSays(row: Row) async throws
    {
        let world = try await World()
        let reader = try await open(world)
        await reader.wait { $0.text.contains(#""event":"open""#) }
        let before = messages(reader).count
        reader.stream.write(row.bytes)
        await reader.wait { $0.hasEnded }
        #expect(Array(messages(reader).dropFirst(before)) == row.answers)
        await world.close()
    }
}
