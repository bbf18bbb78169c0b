import JSONCoding
import Testing

/// What a text is read as, row by row: RFC 8259, and what readers are known to differ in.
@Suite struct JSONConformanceTests {
    /// A value in one form that tells what was read: texts by their scalars.
    private static func shown(_ value: JSON) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let text):
            "'"
                + text.unicodeScalars.map {
                    $0.isASCII && $0.value >= 0x20 ? "\($0)" : "<\(String($0.value, radix: 16))>"
                }
                .joined() + "'"
        case .array(let values): "[" + values.map(shown).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { "\(shown(.string($0.key))):\(shown($0.value))" }.sorted().joined(
                    separator: ",") + "}"
        }
    }

    private static let taken: [(String, String)] = [
        ("[]", "[]"), ("[ ]", "[]"), ("{}", "{}"), ("[[] ]", "[[]]"), (" [1] ", "[1]"), ("[1]\n", "[1]"),
        ("\t\r\n [ 1 , 2 ] ", "[1,2]"), ("[null,true,false]", "[null,true,false]"), ("[\"\"]", "['']"),
        ("\"a\"", "'a'"),
        ("7", "7"), ("null", "null"), ("[[[[[[1]]]]]]", "[[[[[[1]]]]]]"),
        ("[1,null,null,null,2]", "[1,null,null,null,2]"),
        ("[0]", "[0]"), ("[-0]", "[0]"), ("[-1]", "[-1]"), ("[123]", "[123]"), ("[0e1]", "[0.0]"),
        ("[0e+1]", "[0.0]"),
        ("[0E-2]", "[0.0]"), ("[1e2]", "[100.0]"), ("[1E+2]", "[100.0]"), ("[1.5E-1]", "[0.15]"),
        ("[123.456e1]", "[1234.56]"),
        ("[-0.0]", "[-0.0]"), ("[1.000000000000000000005]", "[1.0]"),
        ("[-9223372036854775808]", "[-9223372036854775808]"),
        ("[18446744073709551616]", "[1.8446744073709552e+19]"), ("[1e-400]", "[0.0]"), ("[20e1]", "[200.0]"),
        (#"["\"\\\/\b\f\n\r\t"]"#, "['\"\\/<8><c><a><d><9>']"), (#"["\u0000"]"#, "['<0>']"),
        (#"["\u0041\u00e9"]"#, "['A<e9>']"),
        (#"["\uD83D\uDD14"]"#, "['<1f514>']"), (#"["\ud83d\udd14\ud83d\udd14"]"#, "['<1f514><1f514>']"),
        (#"["\uDBFF\uDFFF"]"#, "['<10ffff>']"), (#"["\uFFFF\uFDD0"]"#, "['<ffff><fdd0>']"),
        (#"["\u200B\u2028\u2029"]"#, "['<200b><2028><2029>']"),
        ("[\"\u{7F}\u{2028}é\u{1F514}\"]", "['\u{7F}<2028><e9><1f514>']"), (#"["a/*b*/c"]"#, "['a/*b*/c']"),
        (#"["\\u0041"]"#, "['\\u0041']"), (#"["\\n"]"#, "['\\n']"), (#"["new\u000Aline"]"#, "['new<a>line']"),
        (#"{"":0}"#, "{'':0}"), (#"{"a":1,"b":2}"#, "{'a':1,'b':2}"),
        (#"{"a":{"b":[{}]}}"#, "{'a':{'b':[{}]}}"),
        (#"{"\u0061b":1}"#, "{'ab':1}"), ("{\"a\u{0301}\":1,\"á\":2}", "{'<e1>':2,'a<301>':1}"),
        ("{\"a\" : 1 }", "{'a':1}"),
        // As Go and Java read them.
        (#"{"a":1,"a":2}"#, "{'a':2}"), (#"{"a":1,"b":2,"a":3,"a":4}"#, "{'a':4,'b':2}"),
        (#"{"a":1,"\u0061":2}"#, "{'a':2}"),
        (#"{"a":{"b":1},"a":{"c":2}}"#, "{'a':{'c':2}}"), (#"{"a":1,"a":null}"#, "{'a':null}"),
        (#"["\uD83D"]"#, "['<fffd>']"), (#"["\uDD14"]"#, "['<fffd>']"), (#"["a\uD83Db"]"#, "['a<fffd>b']"),
        (#"["\uD83D\n"]"#, "['<fffd><a>']"), (#"["\uD83D\u0041"]"#, "['<fffd>A']"),
        (#"["\uD83D\uD83D\uDD14"]"#, "['<fffd><1f514>']"),
        (#"["\uDD14\uD83D"]"#, "['<fffd><fffd>']"), (#"["\uD83D\\uDD14"]"#, "['<fffd>\\uDD14']"),
        (#"{"\uD83D":1}"#, "{'<fffd>':1}"),
        (#"["\uD800\uD800"]"#, "['<fffd><fffd>']"), (#"["\uDBFF\u0000"]"#, "['<fffd><0>']"),
    ]

    @Test(arguments: taken)
    func whatTheGrammarAllowsIsRead(text: String, value: String) throws {
        #expect(Self.shown(try JSON(Array(text.utf8))) == value, "\(text)")
    }

    private static let refused = [
        "", " ", "[", "]", "{", "}", "[[]", "[]]", "{}}", "[1,]", "[,1]", "[1,,2]", "[,]", "[1 true]",
        "[1:2]", "[\"a\",\n4\n,1,",
        "[\"a\"", "[1", "[1\n,1\n,", "[\"a", "[\"a\\", "[\"a\\\"", "[\"\\u", "[\"\\u00A", "[\"\\u00\"]",
        "[\"\\uqqqq\"]", "[\"\\x00\"]",
        "[\"\\a\"]", "[\"\\'\"]", "[\"\\U0041\"]", "[\"\\\u{E9}\"]", "[\"\\\u{0}\"]", "[\"\t\"]", "[\"\n\"]",
        "[\"\u{0}\"]", "[\"\u{1F}\"]",
        "[\"\\uD83D\\\"]", "[\"\\uD83D\\u\"]", "[\"\\uD83D\\u1\"]", "[\"\\uD83D\\u1x\"]", "[\"\\uD83D\\a\"]",
        "[\"\\uD83D",
        "['a']", "[a]", "[\"a\"b]", "[tru]", "[True]", "[nul]", "[NULL]", "[fals]", "[nan]", "[NaN]",
        "[Infinity]", "[-Infinity]",
        "[+1]", "[++1]", "[-]", "[--1]", "[- 1]", "[01]", "[-01]", "[-012]", "[00]", "[1.]", "[.1]", "[-.1]",
        "[-1.]", "[1.e1]",
        "[0.e1]", "[1e]", "[1e+]", "[1E-]", "[1e1.5]", "[1ee1]", "[1e+-1]", "[0x1]", "[0xFFFF]", "[1_000]",
        "[1 000]", "[1a]",
        "[1.2a-3]", "[\u{FF11}]", "[\u{221E}]", "[1e400]", "[-1e400]", "[0e]", "[0.1.2]", "[2.e+3]", "[9.e+]",
        "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1,}", "{\"a\":1,,\"b\":2}",
        "{,\"a\":1}", "{\"a\":1 \"b\":2}",
        "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{[]:1}", "{\"a\",1}", "{\"a\":a}", "{\"a\":\"b\" c}",
        "{\"a\":1}x", "{\"a\":1}{}",
        "[1]x", "[1][2]", "1 2", "\"a\" \"b\"", "/**/1", "[1]//", "[/**/]", "#", "{\"a\":/*b*/1}",
        "\u{FEFF}[]", "\u{A0}[]", "[\u{C}]",
        "[\u{B}1]", "[\u{2060}]", "*", "&", "<null>", "\\u0041", "[\\n]", "{\"a\":[}]", "[{]}", "[\"\"},",
        "\u{0}", "[\u{0}]",
    ]

    @Test(arguments: refused)
    func whatTheGrammarForbidsIsRefused(text: String) {
        #expect(throws: JSONError.self, "\(text)") { try JSON(Array(text.utf8)) }
        #expect(throws: JSONError.self, "\(text)") { try JSON.members(of: Array(text.utf8)) }
    }

    /// Bytes that are no text are U+FFFD, and the text around them stays.
    @Test(
        arguments: [
            [0xFF], [0x80], [0xC0, 0x80], [0xE5], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xC3],
        ] as [[UInt8]])
    func bytesThatAreNoTextSpoilNoOther(bytes: [UInt8]) throws {
        for escape in ["", "\\n"] {
            let text = Array("{\"a\":\"x".utf8) + bytes + Array("\(escape)y\",\"b\":\"z\"}".utf8)
            let read = try JSON(text)
            let scalars = try #require(read["a"]?.string).unicodeScalars
            #expect(scalars.first == "x" && scalars.last == "y" && scalars.contains("\u{FFFD}"))
            #expect(read["b"] == .string("z"))
        }
        // Outside a text they are no JSON.
        #expect(throws: JSONError.self) { try JSON([0x5B] + bytes + [0x5D]) }
    }

    /// In the order written, and each as it was written.
    @Test func ofMembersThatAreRepeatedTheLastHolds() throws {
        let members = try #require(try JSON.members(of: Array(#"{"a":1,"b":"\uD83D","\u0061":[ 2 ]}"#.utf8)))
        #expect(members.map(\.key) == ["a", "b", "a"])
        #expect(members.map { String(decoding: $0.text, as: UTF8.self) } == ["1", #""\uD83D""#, "[ 2 ]"])
        #expect(members.value(of: "a") == .array([.integer(2)]))
        #expect(members.value(of: "b") == .string("\u{FFFD}"))
    }

    /// As many as a document may have.
    @Test func manyRepetitionsAreBoundedAsOtherValuesAre() throws {
        func text(_ count: Int) -> [UInt8] {
            Array("{\((0..<count).map { "\"a\":\($0)" }.joined(separator: ","))}".utf8)
        }
        #expect(try JSON(text(JSON.mostValues - 1)) == .object(["a": .integer(Int64(JSON.mostValues - 2))]))
        #expect(throws: JSONError.tooManyValues(maximum: JSON.mostValues)) { try JSON(text(JSON.mostValues)) }
        #expect(throws: JSONError.tooManyValues(maximum: JSON.mostValues)) {
            try JSON.members(of: text(JSON.mostValues + 1))
        }
    }
}
