import Encodings
import Reactor
import Relay

/// The push servers that have taken something, carried over a restart: the file `push-servers` of the state directory, with
/// an app and an origin on each line. Without it strangers' new servers could use up the room of all others after a restart.
enum RememberedOrigins {
    /// Bytes of the file at most: as many origins as are remembered, each of the longest.
    private static let limit = Pipeline.mostLanes * (LaneHost.longestOrigin + 66)

    /// Reads the file. A file that can't be read is as good as none; so is a line that names no app of these.
    @FileThread
    static func read(_ path: String, apps: [String]) -> [LaneID] {
        guard let bytes = try? PrivateFile.read(path, limit: limit) else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 2, apps.contains(where: { $0.hasSameBytes(as: words[0]) }) else {
                return nil
            }
            return LaneHost(origin: words[1]).map { LaneID(app: words[0], host: $0) }
        }
    }

    /// Writes the file. Without it nothing is lost but the share of those that it names.
    static func write(_ origins: [LaneID], to path: String) async {
        let lines = origins.map { "\($0.app) \($0.host.name)\n" }
        _ = await PrivateFile.replace(path, with: Array(lines.joined().utf8))
    }
}
