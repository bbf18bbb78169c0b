import Testing

@testable import YAML

@Suite struct YAMLNodeTests {
    private func error(_ text: String) -> YAMLError? {
        do throws(YAMLError) {
            _ = try YAMLNode.parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func aTreeHasTheLinesOfItsText() throws {
        let root = try #require(
            try YAMLNode.parse("# first\nname: onion\nports:\n  - 80\n  - '81'\ntor: {mode: own}\n"))
        #expect(root.line == 2)
        #expect(root["name"]?.text == "onion")
        #expect(root["ports"]?.items?.map(\.text) == ["80", "81"])
        #expect(root["ports"]?.items?.map(\.line) == [4, 5])
        #expect(root["tor"]?["mode"]?.text == "own")
        #expect(root.entries?.map(\.key.text) == ["name", "ports", "tor"])
        #expect(root.entries?.map(\.key.line) == [2, 3, 6])
        #expect(root["nothing"] == nil && root["name"]?["x"] == nil)
    }

    @Test(arguments: ["", "\n", "# only a comment", "---\n# \n...\n"])
    func aTextWithoutAValueIsNothing(text: String) throws {
        let node = try YAMLNode.parse(text)
        #expect(node == nil || node?.isNull == true)
    }

    @Test(arguments: [
        ("~", true), ("null", true), ("'null'", false), ("\"~\"", false), ("''", false), ("nul", false),
    ])
    func onlyPlainWordsAreNull(word: String, isNull: Bool) throws {
        #expect(try YAMLNode.parse("a: \(word)")?["a"]?.isNull == isNull)
    }

    @Test func textIsBlocksQuotesAndTagsTakenOff() throws {
        let root = try #require(
            try YAMLNode.parse("a: |\n  one\n  two\nb: \"x\\ty\"\nc: !!int 7\nd: '& * #'\ne: ünïcode\n"))
        #expect(root["a"]?.text == "one\ntwo\n")
        #expect(root["b"]?.text == "x\ty")
        #expect(root["c"]?.text == "7")
        #expect(root["d"]?.text == "& * #")
        #expect(root["e"]?.text == "ünïcode")
    }

    @Test(arguments: [
        ("a: &x 1", 1), ("a: 1\nb: *x", 2), ("\n&x [1]", 2), ("- &x {a: 1}", 1), ("*x : 1", 1),
        ("&x a: 1", 1),
    ])
    func anchorsAndAliasesAreRefused(text: String, line: Int) { #expect(error(text) == .alias(line: line)) }

    @Test func keysComeOnce() {
        #expect(error("a: 1\nb: 2\na: 3") == .duplicateKey("a", line: 3))
        #expect(error("x: {a: 1, 'a': 2}") == .duplicateKey("a", line: 1))
        #expect(error("x: {a: 1}\ny: {a: 1}") == nil)
    }

    @Test func thereIsOneDocument() {
        #expect(error("a: 1\n---\nb: 2") == .notYAML(problem: "more than one document", line: 2))
        #expect(error("---\na: 1\n...\n") == nil)
    }

    @Test func theDeepestIsTakenAndOneMoreIsNot() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(error(nested(YAMLNode.deepest)) == nil)
        #expect(error(nested(YAMLNode.deepest) + "\n") == nil)
        #expect(error("\n" + nested(YAMLNode.deepest + 2)) == .tooDeep(line: 2))
    }

    @Test(arguments: [
        ("a: [", 2), ("a: 'b", 1), ("a:\n\tb: 1", 2), ("a: b: c", 1), ("%TAG !", 1), ("a\u{0}b", 1),
        ("\n\u{7}", 2),
    ])
    func whatIsNotYAMLIsToldWithItsLine(text: String, line: Int) {
        guard case .notYAML(_, let found) = error(text) else {
            Issue.record("it was taken")
            return
        }
        #expect(found == line)
    }
}
