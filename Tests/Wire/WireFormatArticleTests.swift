import Encodings
import Foundation
import Testing

@testable import Wire

/// What `WireFormat.md` promises to those who write senders is what this code does.
@Suite struct WireFormatArticleTests {
    private let text: String

    init() throws {
        text = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/WireFormat.md"),
            encoding: .utf8)
    }

    /// The frames of its example: digits, in groups, then perhaps a remark behind two blanks or more.
    private var frames: [[UInt8]] {
        text.components(separatedBy: "```hex\n").dropFirst().map { block in
            let lines = block.components(separatedBy: "\n```")[0].split(separator: "\n")
            let digits = lines.map { String($0).components(separatedBy: "  ")[0].filter { $0 != " " } }
            return Hex.decode(digits.joined()) ?? []
        }
    }

    @Test func itsExampleIsWhatGoesOverTheWire() throws {
        var request = MobileNotificationRequest()
        request.uid = "c7d6a1f0"
        request.platform = .android
        request.deviceToken = "an-example-of-a-device-token-123"
        request.message = "BisqMessageAndroid|3f2a9c1b7d5e4f60|AAECAwQFBgcICQoLDA0ODw=="
        request.isUrgent = true
        request.hasSound = true
        request.awaitsOutcome = true
        let messages: [Message] = [
            .notificationRequest(request),
            .notificationResponse(MobileNotificationResponse(requestUid: "c7d6a1f0", status: .stored)),
            .notificationResponse(MobileNotificationResponse(requestUid: "c7d6a1f0", status: .delivered)),
            .notificationResponse(
                MobileNotificationResponse(
                    requestUid: "c7d6a1f0", status: .busy, reason: "Busy", retryAfterMilliseconds: 500)),
        ]
        #expect(frames == messages.map { Envelope(messageVersion: 10, message: $0).frame })
    }

    @Test func itNamesEveryWordOfAClose() {
        for word in PeerClose.allCases.compactMap(\.word) { #expect(text.contains("`\(word)`")) }
    }

    @Test func itNamesEveryFieldOfTheContract() throws {
        let contract = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Core/Wire/onionbell.proto"), encoding: .utf8)
        /// The types of fields, as the article calls them.
        let types = [
            "string": "string", "bool": "bool", "int64": "int64", "NodeAddress": "message",
            "MobilePlatform": "enum",
            "Status": "enum",
        ]
        for (name, count) in [("MobileNotificationRequest", 12), ("MobileNotificationResponse", 4)] {
            let body = contract.components(separatedBy: "message \(name) {")[1].components(
                separatedBy: "\n}")[0]
            let fields = body.split(separator: "\n").compactMap { line -> String? in
                let words = line.split(whereSeparator: { " =;".contains($0) }).map(String.init)
                guard words.count == 3, let type = types[words[0]] else { return nil }
                return "| \(words[2]) | \(type) | \(words[1]) |"
            }
            #expect(fields.count == count)
            for field in fields { #expect(text.contains(field), "\(field)") }
        }
    }

    @Test func itsLimitsAreTheDefaults() {
        let limits = PeerSession.Limits()
        #expect(text.contains("| bytes of a frame | 65,536 |") && limits.frameLength == 65_536)
        #expect(text.contains("fewer than 200 within a second, 1,000 within ten"))
        #expect(limits.framesPerSecond == 200 && limits.framesPerTenSeconds == 1_000)
        #expect(text.contains("more than 1,040 peers") && limits.reportedPeers == 1_040)
    }
}
