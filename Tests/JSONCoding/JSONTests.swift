import JSONCoding
import Testing

private func read(_ text: String, maximumDepth: Int = 16) throws(JSONError) -> JSON {
    try JSON(Array(text.utf8), maximumDepth: maximumDepth)
}

@Suite struct JSONTests {
    @Test(arguments: [
        ("null", JSON.null), (" true\r\n", .bool(true)), ("false", .bool(false)), ("0", .integer(0)),
        ("-12", .integer(-12)), ("9223372036854775807", .integer(.max)),
        ("9223372036854775808", .number(0x1p63)),
        ("1.5e1", .number(15)), ("\"\"", .string("")), ("[]", .array([])), ("{}", .object([:])),
        (
            "[1, [2],{\"a\":\"b\"}]",
            .array([.integer(1), .array([.integer(2)]), .object(["a": .string("b")])])
        ),
        (#""\"\\\/\b\f\n\r\té\uD83D\uDD14""#, .string("\"\\/\u{8}\u{C}\n\r\té🔔")),
        (#"{"é":null,"b":[true]}"#, .object(["é": .null, "b": .array([.bool(true)])])),
    ])
    func aDocumentIsReadAsItsValue(text: String, value: JSON) throws {
        #expect(try read(text) == value)
    }

    @Test(arguments: [
        "", " ", "{", "[", "\"", "\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}",
        "[1,]",
        "[1 2]", "tru", "truE", "nul", "01", "-", "1.", ".5", "1e", "1e+", "+1", "1e999", "\"\\x\"",
        "\"\\u12\"",
        "\"\n\"", "\"\u{0}\"", "1 2",
        "{}x",
        "\u{FEFF}{}", "'a'", "/* */1", "NaN", "Infinity",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(throws: JSONError.self) { try read(text) }
    }

    @Test func theDeepestNestingIsAcceptedAndOneMoreRefused() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try read(nested(4), maximumDepth: 4)
        #expect(throws: JSONError.tooDeep(maximum: 4)) { try read(nested(5), maximumDepth: 4) }
        #expect(throws: JSONError.tooDeep(maximum: 16)) {
            try read(String(repeating: "{\"a\":", count: 100_000))
        }
    }

    @Test func everyBeginningOfADocumentIsRefused() throws {
        let text =
            #"{"error":{"code":404,"details":[{"@type":"x","errorCode":"A\u00e9"}],"ok":true,"n":null}}"#
        for length in 0..<text.utf8.count {
            #expect(throws: JSONError.self) { try JSON(Array(text.utf8.prefix(length))) }
        }
        #expect(try read(text)["error"]?["details"]?.array?.first?["errorCode"]?.string == "Aé")
    }

    /// Bytes are looked at many at a time: wherever one stands, it is seen.
    @Test(arguments: 0..<100)
    func aByteCountsWhereverItStands(place: Int) throws {
        let text = String(repeating: "x", count: place)
        #expect(
            try read("[\"\(text)\",\"\(text)\\n\(text)\"]")
                == .array([.string(text), .string("\(text)\n\(text)")]))
        #expect(throws: JSONError.unexpectedByte(offset: place + 1)) { try read("\"\(text)\u{1F}\"") }
        #expect(throws: JSONError.unexpectedEnd) { try read("\"\(text)") }
    }

    @Test(arguments: [1, 2, 15, 16, 17, 40])
    func membersComeInTheirOrderAsTheyWereWritten(count: Int) throws {
        let members = (0..<count).map { "\"\($0)\":[\($0) ]" }
        let read = try #require(try JSON.members(of: Array("{\(members.joined(separator: ","))}".utf8)))
        #expect(read.map(\.key) == (0..<count).map(String.init))
        #expect(read.map { String(decoding: $0.text, as: UTF8.self) } == (0..<count).map { "[\($0) ]" })
        #expect(try JSON.members(of: Array("[\(count)]".utf8)) == nil)
    }

    @Test func aWrittenStringIsReadBackAsItWas() throws {
        let text = String(String.UnicodeScalarView((0..<0x250).map { Unicode.Scalar($0)! })) + "🔔"
        var bytes: [UInt8] = []
        bytes.append(jsonString: text)
        #expect(try JSON(bytes) == .string(text))
    }
}
