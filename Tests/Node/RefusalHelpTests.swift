import Foundation
import Overview
import Relay
import Testing

/// The words about refusals: where somebody sees a reason, they see what helps.
@Suite struct RefusalHelpTests {
    private static let article = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/ReasonCodes.md").standardized

    /// The article and the program say the same.
    @Test func theArticleHasTheProgramsWords() throws {
        let rows = try String(contentsOf: Self.article, encoding: .utf8).split(separator: "\n")
            .map { $0.replacing("`", with: "").replacing("\\|", with: "\u{1}").split(separator: "|") }
            .filter { $0.count == 3 }
            .map { cells in
                cells.map { $0.trimmingCharacters(in: .whitespaces).replacing("\u{1}", with: "|") }
            }
        for reason in Reason.own {
            let row = try #require(RefusalHelp.row(of: reason), "\(reason.code)")
            #expect(rows.contains([reason.code, row.cause, row.help]), "\(reason.code)")
        }
    }

    @Test func eachReasonHasHelp() {
        for reason in Reason.own { #expect(RefusalHelp.text(of: reason.code).contains("What helps: ")) }
        #expect(RefusalHelp.row(of: .gateway("X")) == nil)
        #expect(RefusalHelp.text(of: "DeviceTokenNotForTopic").contains("ReasonCodes.md"))
        #expect(RefusalHelp.text(of: "DeviceTokenNotForTopic", advice: "pair again") == "pair again")
    }
}
