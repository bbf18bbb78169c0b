import Crypto
import Doors
import Encodings
import Glibc
import JSONCoding
import Node
import Reactor

/// The file `console-owner` of the state directory: digests of the sessions and of the passphrase. That it is there says that
/// the node has an owner.
///
///     {"marks":["<hex>"],"passphrase":{"key":"<hex>","salt":"<hex>"},
///      "sessions":[{"browser":"Firefox, Linux","digest":"<hex>","ends":1790000000,"used":1789000000}]}
enum ConsoleOwnerFile {
    private static let limit = 16_384

    /// Reads the file; `nil`: there is none.
    static func read(_ path: String) throws(Fault) -> ConsoleAccess.Saved? {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(path, limit: limit)
        } catch {
            if error.code == ENOENT { return nil }
            throw .system(error)
        }
        guard let json = try? JSON(bytes), let saved = ConsoleAccess.Saved(json) else {
            throw .unreadable(path)
        }
        return saved
    }

    static func text(_ saved: ConsoleAccess.Saved) -> [UInt8] { Array((saved.json.text + "\n").utf8) }

    enum Fault: Error, CustomStringConvertible {
        case system(SystemError)
        case unreadable(String)

        var description: String {
            switch self {
            case .system(let error): "\(error)"
            case .unreadable(let path): "\(path) is not what the node wrote"
            }
        }
    }
}

extension ConsoleAccess.Saved {
    fileprivate init?(_ json: JSON) {
        self.init()
        if let passphrase = json["passphrase"] {
            guard let salt = passphrase["salt"]?.string.flatMap({ Hex.decode($0) }),
                let key = passphrase["key"]?.string.flatMap({ Hex.decode($0) }),
                let digest = PassphraseDigest(salt: salt, key: Secret(key))
            else { return nil }
            self.passphrase = digest
        }
        guard let rows = json["sessions"]?.array else { return nil }
        for row in rows.suffix(ConsoleAccess.mostSessions) {
            guard let digest = row["digest"]?.string.flatMap({ Hex.decode($0) }), digest.count == 32,
                let ends = row["ends"]?.integer
            else { return nil }
            sessions.append(
                ConsoleAccess.Session(
                    digest: digest, ends: ends, browser: row["browser"]?.string ?? "",
                    used: row["used"]?.integer ?? 0))
        }
        for row in (json["marks"]?.array ?? []).suffix(ConsoleAccess.mostMarks) {
            guard let mark = row.string.flatMap({ Hex.decode($0) }), mark.count == 32 else { return nil }
            marks.append(mark)
        }
    }

    fileprivate var json: JSON {
        var members: JSON.Object = [
            "sessions": .array(
                sessions.map {
                    [
                        "digest": .string(Hex.encode($0.digest)), "ends": .integer($0.ends),
                        "browser": .string($0.browser), "used": .integer($0.used),
                    ]
                }),
            "marks": .array(marks.map { .string(Hex.encode($0)) }),
        ]
        if let passphrase {
            members["passphrase"] = [
                "salt": .string(Hex.encode(passphrase.salt)),
                "key": .string(Hex.encode(passphrase.key.bytes)),
            ]
        }
        return .object(members)
    }
}
