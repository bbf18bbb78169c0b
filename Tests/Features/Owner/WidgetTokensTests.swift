import Testing

@testable import Owner

/// Tokens of widgets.
@Suite struct WidgetTokensTests {
    private func secret(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 20) }

    @Test func aTokenIsGoodUntilItIsRemovedAndItsTextIsNotHeld() throws {
        var tokens = WidgetTokens()
        let (one, other) = (
            try tokens.add("one", secret: secret(1)), try tokens.add("o-2", secret: secret(2))
        )
        #expect(tokens.has(one) && tokens.has(other) && !tokens.has("") && !tokens.has(one + "x"))
        #expect(WidgetTokens(tokens.tokens).has(one))
        #expect(!"\(tokens)".contains(one))
        let removed = [tokens.remove("one"), tokens.remove("one")]
        #expect(removed == [true, false])
        #expect(!tokens.has(one) && tokens.has(other))
    }

    @Test func namesAreShortAndOneEachAndTokensFew() throws {
        var tokens = WidgetTokens()
        for name in ["", "a b", "é", "a/b", "a\u{0}", String(repeating: "a", count: 65)] {
            #expect(throws: WidgetTokens.Refusal.self, "\(name)") { try tokens.add(name, secret: secret(1)) }
        }
        _ = try tokens.add(String(repeating: "a", count: 64), secret: secret(0))
        for number in 1..<UInt8(WidgetTokens.most) {
            _ = try tokens.add("n\(number)", secret: secret(number))
        }
        #expect(throws: WidgetTokens.Refusal.self) { try tokens.add("n1", secret: secret(99)) }
        #expect(throws: WidgetTokens.Refusal.self) { try tokens.add("more", secret: secret(99)) }
        #expect(WidgetTokens(tokens.tokens + tokens.tokens).tokens.count == WidgetTokens.most)
    }
}
