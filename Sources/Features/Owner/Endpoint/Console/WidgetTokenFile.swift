import Doors
import Encodings
import Glibc
import JSONCoding
import Node
import Reactor

/// The file `console-widgets` of the state directory.
///
///     {"tokens":[{"name":"umbrel","digest":"<hex>"}]}
enum WidgetTokenFile {
    private static let limit = 16_384

    /// Reads the tokens. A file that is not there, or can't be read, has none.
    static func read(_ path: String) -> (tokens: WidgetTokens, fault: String?) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(path, limit: limit)
        } catch {
            return (WidgetTokens(), error.code == ENOENT ? nil : "\(error)")
        }
        guard let rows = (try? JSON(bytes, maximumDepth: 3))?["tokens"]?.array else {
            return (WidgetTokens(), "\(path) is not what the node wrote")
        }
        let tokens = rows.compactMap { row -> WidgetTokens.Token? in
            guard let name = row["name"]?.string,
                let digest = row["digest"]?.string.flatMap({ Hex.decode($0) }), digest.count == 32
            else { return nil }
            return WidgetTokens.Token(name: name, digest: digest)
        }
        return (WidgetTokens(tokens), nil)
    }

    static func text(_ tokens: WidgetTokens) -> [UInt8] {
        let rows = tokens.tokens.map { token -> JSON in
            ["name": .string(token.name), "digest": .string(Hex.encode(token.digest))]
        }
        return Array((JSON.object(["tokens": .array(rows)]).text + "\n").utf8)
    }
}
