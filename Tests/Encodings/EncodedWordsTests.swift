import Encodings
import Testing

@Suite struct EncodedWordsTests {
    /// As Go reads them: pairs of a real ntfy 2.27, and of RFC 2047, section 8.
    @Test(arguments: [
        ("=?UTF-8?B?R3LDvMOfZQ==?=", "Gr\u{fc}\u{df}e"),
        ("=?UTF-8?Q?Gr=C3=BC=C3=9Fe_x?= und =?ISO-8859-1?Q?=E4?=", "Gr\u{fc}\u{df}e x und \u{e4}"),
        ("=?utf-8?q?=c3=a4,b?=", "\u{e4},b"), ("a =?us-ascii?q?b?=", "a b"),
        ("(=?ISO-8859-1?Q?a?=)", "(a)"), ("=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=", "ab"),
        ("=?ISO-8859-1?Q?a?= \t =?ISO-8859-1?Q?b?= c", "ab c"), ("=?ISO-8859-1?Q?a_b?=", "a b"),
        ("=?X-UNKNOWN?Q?=E4?= =?utf-8?q?a?=", "=?X-UNKNOWN?Q?=E4?= =?utf-8?q?a?="),
        ("=?UTF-8?Q?https=3A//x?=", "https://x"), ("=?utf-8?b??=", ""), ("=?us-ascii?q?=e4?=", "\u{fffd}"),
    ]) func anEncodedWordIsItsText(word: String, text: String) {
        #expect(EncodedWords.decoded(word) == text)
    }

    @Test(arguments: [
        "", "=", "=?", "=??", "=???", "=???=", "?=", "a?=b", "=?utf-8?q?a", "=?utf-8?q?a?", "=?utf-8?x?a?=",
        "=?utf-8?b?a?=", "=?utf-8?q?=4?=", "=?utf-8?q?=xy?=", "=?utf-8?qq?a?=", "plain \u{e4}",
    ]) func whatIsNoneStaysAsItIs(text: String) { #expect(EncodedWords.decoded(text) == text) }

    /// A word that begins with what looked like one.
    @Test func aBrokenWordHidesNoneBehindIt() {
        #expect(EncodedWords.decoded("=?=?utf-8?q?a?=") == "=?a")
        #expect(EncodedWords.decoded("=?utf-8?q?=4?= =?utf-8?q?b?=") == "=?utf-8?q?=4?= b")
    }
}
