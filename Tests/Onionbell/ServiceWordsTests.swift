import Encodings
import Foundation
import Relay
import Testing

/// The words of each push service stand in its folder: a gateway that comes has its own, and nothing else has to know them.
@Suite struct ServiceWordsTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized
    private static let gateways = "Edge/Gateways/"
    /// Who speaks a service's words to others: the simulators, and the door for senders who know Apple's from gorush.
    private static let speakers = ["Lab/", "Features/Gorush/GorushApplePush.swift"]

    private static func files() throws -> [(path: String, text: String)] {
        let found = FileManager.default.enumerator(atPath: sources.path())
        var files: [(path: String, text: String)] = []
        while let path = found?.nextObject() as? String {
            guard path.hasSuffix(".swift") else { continue }
            files.append((path, try String(contentsOf: sources.appending(path: path), encoding: .utf8)))
        }
        return files
    }

    /// `BadTopic`, `SENDER_ID_MISMATCH`: without those that are spelled like our own codes.
    private static func words(in answers: String) -> Set<String> {
        let own = Set(Reason.own.map(\.code))
        return Set(
            answers.matches(of: /"([A-Z][A-Za-z]{6,}|[A-Z][A-Z_]{6,})"/).map { String($0.1) }
                .filter { !own.contains($0) })
    }

    @Test func noServicesWordStandsOutsideTheGateways() throws {
        let files = try Self.files()
        let answers = files.filter { $0.path.hasPrefix(Self.gateways) && $0.path.hasSuffix("Answer.swift") }
        let words = answers.reduce(into: Set<String>()) { $0.formUnion(Self.words(in: $1.text)) }
        #expect(words.isSuperset(of: ["DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "BadJwtToken"]))
        for (path, text) in files where !path.hasPrefix(Self.gateways) {
            guard !Self.speakers.contains(where: path.hasPrefix) else { continue }
            let found = Self.words(in: text).intersection(words)
            #expect(found.isEmpty, "\(path): \(found.sorted())")
        }
    }
}
