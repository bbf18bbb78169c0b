import JSONCoding
import Testing
import Vectors

/// A stranger's text costs what its length says, whatever is in it.
@Suite struct HostileTextTests {
    @Test func aKeyCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio { text in
            let document = Array(#"{"a":1,"\#(text)b":2,"\#(text)":3}"#.utf8)
            #expect((try? JSON(document))?["a"] == 1)
            #expect(try! JSON.members(of: document)?.count == 3)
        }
        #expect(ratio < 20)
    }

    @Test func aDocumentHasSoManyValuesAndNoMore() throws {
        let most = JSON.mostValues - 1
        func list(_ count: Int) -> [UInt8] {
            Array("[\(Array(repeating: "0", count: count).joined(separator: ","))]".utf8)
        }
        #expect(try JSON(list(most)).array?.count == most)
        #expect(throws: JSONError.tooManyValues(maximum: JSON.mostValues)) { try JSON(list(most + 1)) }
    }

    @Test func aTextIsComparedAsItsBytes() throws {
        let ratio = HostileText.ratio { text in
            let value = JSON.string(text)
            #expect(value == .string(text) && value != "" && value != .string(text + "a"))
        }
        #expect(ratio < 20)
        // Two spellings of one letter.
        #expect(try JSON(Array(#""\u00e9""#.utf8)) != JSON(Array(#""e\u0301""#.utf8)))
        #expect(try JSON(Array(#"{"\u00e9":1,"e\u0301":2}"#.utf8)).object?.count == 2)
    }
}
