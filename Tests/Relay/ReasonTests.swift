import Foundation
import Testing

@testable import Relay

/// Senders rely on the words: `WireFormat.md` tells every one of them.
@Test func everyReasonIsToldToThoseWhoWriteSenders() throws {
    let article = try String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Onionbell/Onionbell.docc/WireFormat.md"), encoding: .utf8)
    for reason in Reason.allCases { #expect(article.contains("`\(reason.rawValue)`"), "\(reason)") }
}
