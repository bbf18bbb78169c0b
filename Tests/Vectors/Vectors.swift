import Foundation

/// The test vectors made by independent code, read where they lie beside this file.
package enum Vectors {
    /// The list under `key` of `bisq-vectors.json`, each entry decoded.
    package static func bisq<Entry: Decodable>(_ key: String, as type: Entry.Type = Entry.self) throws
        -> Entry
    {
        try read(key, of: "bisq-vectors.json")
    }

    /// What is under `key` of `seed-systems-vectors.json`, decoded.
    package static func seed<Entry: Decodable>(_ key: String, as type: Entry.Type = Entry.self) throws
        -> Entry
    {
        try read(key, of: "seed-systems-vectors.json")
    }

    /// The list under `key` of `reply-vectors.json`, each entry decoded.
    package static func replies<Entry: Decodable>(_ key: String, as type: [Entry].Type = [Entry].self) throws
        -> [Entry]
    {
        try read(key, of: "reply-vectors.json")
    }

    /// The cases of one kind in `web-push-vectors.json`, each decoded.
    package static func webPush<Entry: Decodable>(_ kind: String, as type: Entry.Type = Entry.self) throws
        -> [Entry]
    {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "web-push-vectors.json")
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let cases = (all?["cases"] as? [[String: Any]] ?? []).filter { $0["kind"] as? String == kind }
        guard !cases.isEmpty else { throw MissingVectors(key: kind) }
        return try JSONDecoder().decode([Entry].self, from: JSONSerialization.data(withJSONObject: cases))
    }

    /// What is under `name` of `crypto-vectors.json`, decoded.
    package static func crypto<Entry: Decodable>(_ name: String, as type: Entry.Type = [[String?]].self)
        throws
        -> Entry
    {
        try read(name, of: "crypto-vectors.json")
    }

    private static func read<Entry: Decodable>(_ key: String, of name: String) throws -> Entry {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: name)
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        guard let part = all?[key] else { throw MissingVectors(key: key) }
        return try JSONDecoder().decode(
            Entry.self, from: JSONSerialization.data(withJSONObject: part, options: .fragmentsAllowed))
    }
}

package struct MissingVectors: Error {
    let key: String
}

/// Bytes written as hex digits in the vectors.
package func bytes(hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map { index in
        UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)!
    }
}
