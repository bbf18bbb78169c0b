import Testing

@testable import Relay

@Suite struct MentionsTests {
    @Test(arguments: ["", "a", "ab", "device", "quota of the device", "é device"])
    func wordsAreFoundWhereverTheyStand(words: String) {
        for text in [words, words + " is over", "it is " + words, "it is \(words), or so"] {
            #expect(text.mentions(words))
        }
    }

    @Test func whatIsNotThereIsNotFound() {
        #expect(!"".mentions("a"))
        #expect(!"devic".mentions("device"))
        #expect(!"the Device".mentions("device"))
        #expect(!"dev ice".mentions("device"))
    }
}
