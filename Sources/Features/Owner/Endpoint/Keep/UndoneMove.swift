import Calls
import Encodings
import JSONCoding
import Node
import Reactor

/// The last move that came to nothing, for the owner's eyes: the file `move-undone` of the state directory, with seconds
/// since 1970, a line break, and the reason. The next move takes its place.
struct UndoneMove: Equatable {
    /// Seconds since 1970.
    let at: Int64
    let reason: String

    private static func file(in stateDirectory: String) -> String { stateDirectory + "/move-undone" }
    private static let longestReason = 2000

    /// Notes that the node is what it was before the move. Without the note only the log says so.
    static func note(_ reason: String, in stateDirectory: String) {
        let text =
            "\(EventLoop.unixMilliseconds / 1000)\n\(String(decoding: reason.utf8.prefix(longestReason), as: UTF8.self))"
        try? PrivateFile.write(text, to: file(in: stateDirectory), replacing: true)
    }

    static func forget(in stateDirectory: String) {
        try? PrivateFile.remove(file(in: stateDirectory))
    }

    @FileThread
    static func read(in stateDirectory: String) -> UndoneMove? {
        guard let bytes = try? PrivateFile.read(file(in: stateDirectory), limit: longestReason + 32),
            let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let time = Int64(String(decoding: bytes[..<end], as: UTF8.self))
        else { return nil }
        return UndoneMove(at: time, reason: String(decoding: bytes[(end + 1)...], as: UTF8.self))
    }

    static let shape: CallShape = ["at": .time, "reason": .text]

    var json: JSON { ["at": .integer(at), "reason": .string(reason)] }
}
