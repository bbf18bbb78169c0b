import Foundation
import Testing

@testable import Relay

/// Senders rely on the words: `WireFormat.md` tells every one of them.
@Test func everyReasonIsToldToThoseWhoWriteSenders() throws {
    let article = try String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/WireFormat.md"), encoding: .utf8
    )
    for reason in Reason.own { #expect(article.contains("`\(reason.code)`"), "\(reason)") }
}

/// Apple's `BadDeviceToken` says something of a phone, ours of a text that came.
@Test func aGatewaysWordIsNeverOneOfOurs() {
    for reason in Reason.own {
        #expect(Reason.gateway(reason.code) != reason)
        #expect(Reason.gateway(reason.code).code == reason.code)
    }
}

/// What ended once it was stored has the same code after a restart.
@Test func aStoredCodeIsTheGatewaysUnlessOnlyWeCouldHaveWrittenIt() {
    for reason in Reason.own + [.gateway("PayloadTooLarge")] {
        #expect(Reason(stored: reason.code).code == reason.code)
    }
    #expect(Reason(stored: "BadDeviceToken") == .gateway("BadDeviceToken"))
    #expect(Reason(stored: "Internal") == .internal)
}
