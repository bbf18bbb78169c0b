import Testing

@testable import Tor

@Suite struct ReplyFieldsTests {
    @Test func wordsKeysAndQuotationsAreToldApart() throws {
        let words = try ReplyFields(
            #"NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done \"now\"" "quoted word" EMPTY= q="" x"y"#)
        #expect(words[0] == "NOTICE")
        #expect(words["PROGRESS"] == "100")
        #expect(words["SUMMARY"] == #"Done "now""#)
        #expect(words.words[5].value == "quoted word")
        #expect(words.words[5].key == nil)
        #expect(words["EMPTY"] == "")
        #expect(words["q"] == "")
        #expect(words[8] == #"x"y"#)
        #expect(words[9] == nil)
        #expect(words["absent"] == nil)
    }

    @Test func aWordToldByItsPlaceKeepsItsEqualsSign() throws {
        let words = try ReplyFields("CREATED id UNKNOWN UNKNOWN c29tZQ==")
        #expect(words[4] == "c29tZQ==")
    }

    @Test(arguments: [
        (#""a\\b""#, "a\\b"), (#""\n\r\t""#, "\n\r\t"), (#""\101\x42\'""#, "AB'"), (#""\0""#, "\0"),
        (#""\1019""#, "A9"), (#""""#, ""),
    ])
    func escapesAreThoseOfC(written: String, value: String) throws {
        #expect(try ReplyFields(written).words.map(\.value) == [value])
    }

    @Test(arguments: [#"""#, #"a="b"#, #""a\""#, #""\"#])
    func aQuotationWithoutEndIsRefused(text: String) {
        #expect(throws: ControlSyntaxError.unfinishedQuotation) { try ReplyFields(text) }
    }

    @Test func whatWeQuoteIsReadBackTheSame() throws {
        let bytes = Array(UInt8(1)...0x7F)
        let words = try ReplyFields(ControlCommand.quoted(bytes))
        #expect(words.words.map { Array($0.value.utf8) } == [bytes])
    }

    @Test func noArgumentBreaksOutOfItsLine() {
        let command = ControlCommand.setConfiguration([("Log", "a\r\nQUIT \"x\"")])
        #expect(command.line == #"SETCONF Log="a\015\012QUIT \"x\"""#)
    }

    @Test func aPasswordOfAnyBytesIsSentAsDigits() {
        #expect(ControlCommand.authenticate(Array("é\"\r\n".utf8)).line == "AUTHENTICATE c3a9220d0a")
        #expect(ControlCommand.authenticate([]).line == "AUTHENTICATE \"\"")
    }
}
