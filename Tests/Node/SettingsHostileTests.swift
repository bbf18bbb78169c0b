import FeatureList
import Foundation
import Testing

@testable import Node

@Suite struct SettingsHostileTests {
    private static let advice = ". Look at indentation, colons and quotation marks, also before it"

    /// In a directory of its own, which goes with the test.
    private func fault(ofFile bytes: [UInt8]) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "onionbell-\(UUID()).yaml")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        do throws(SettingsError) {
            _ = try Settings(file: file.path, environment: [:], features: .built)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func aFileThatIsNotThereIsAFault() {
        #expect(throws: SettingsError.self) {
            try Settings(file: "/nonexistent/x.yaml", environment: [:], features: .built)
        }
        do {
            _ = try Settings(file: "/nonexistent/x.yaml", environment: [:], features: .built)
        } catch {
            #expect(
                error.description
                    == "/nonexistent/x.yaml: one error\n  can't be read: No such file or directory: "
                    + "make one with onionbell init, or name another with --config")
        }
    }

    @Test func aDirectoryIsNoFile() {
        do {
            _ = try Settings(file: "/tmp", environment: [:], features: .built)
            Issue.record("it was read")
        } catch {
            #expect(error.description == "/tmp: one error\n  can't be read: Is a directory")
        }
    }

    @Test func theLargestFileIsReadAndOneByteMoreIsNot() throws {
        let largest = [UInt8](repeating: UInt8(ascii: "\n"), count: SettingsText.sizeLimit)
        #expect(try fault(ofFile: largest) == [])
        #expect(
            try fault(ofFile: largest + [UInt8(ascii: "\n")])
                == ["is larger than 262144 bytes, so it is not a configuration of onionbell"])
    }

    @Test func whatIsNotTextIsAFault() throws {
        #expect(try fault(ofFile: [0x61, 0xff, 0xfe]) == ["is not UTF-8 text"])
        let nul = try fault(ofFile: Array("tor:\n  mode: own\0\n".utf8))
        #expect(nul == ["line 2: is not YAML: control characters are not allowed\(Self.advice)"])
    }

    @Test(
        arguments: [
            ("tor: [", "line 2: is not YAML: did not find expected node content\(Self.advice)"),
            ("tor: {mode: own", "line 2: is not YAML: did not find expected ',' or '}'\(Self.advice)"),
            ("a: b: c", "line 1: is not YAML: mapping values are not allowed in this context\(Self.advice)"),
            ("tor:\n\tmode: own", "line 2: is indented with a tab: use blanks"),
            ("tor: 'own", "line 1: is not YAML: found unexpected end of stream\(Self.advice)"),
            ("a: 1\n---\nb: 2", "line 2: is not YAML: more than one document\(Self.advice)"),
            ("%TAG !", nil),
            ("tor: !!binary x", nil),
            ("? [a]\n: b", nil),
            ("<<: {tor: 1}", nil),
        ] as [(String, String?)])
    func whatIsNotYAMLIsAFaultWithItsLine(yaml: String, expected: String?) {
        let found = faults(yaml)
        #expect(found.count == 1)
        if let expected { #expect(found == [expected]) }
    }

    @Test(arguments: [
        "a: &x 1", "a: *x", "a: &x [*x]", "*x : 1", "- &a", "[&a b]", "? &a [1]\n: 2",
    ])
    func anchorsAndAliasesAreRefused(yaml: String) {
        let found = faults(yaml)
        #expect(found.count == 1 && found[0].hasSuffix("& and * (anchors and aliases) are not allowed here"))
    }

    @Test func aCommentMayHoldAnything() throws {
        let yaml = "# *a &b\n  # &c\ntor: # *d\n  binary: a#b # &e\n  torrc: '&x # y' # &f\n"
        let read = try settings(yaml)
        #expect(read.tor.binary == "a#b")
        #expect(read.tor.torrc == "/etc/onionbell/&x # y")
    }

    /// A thousand million million nodes, were it read.
    @Test func aLaughIsNotExpanded() {
        var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...15 {
            let alias = "*a\(level - 1)"
            yaml += "a\(level): &a\(level) [\(Array(repeating: alias, count: 10).joined(separator: ", "))]\n"
        }
        #expect(faults(yaml + "? *a15\n: x\n").count == 1)
    }

    @Test(
        arguments: [
            ("- ", ""), ("[", ""), ("[", "]"), ("{a: ", ""), ("{a: ", "}"), ("? ", ""), ("[[x]: y, ", ""),
            ("{? ", ""),
            ("a: ", ""), ("'", ""), ("|\n", ""), ("#", ""), ("\u{feff}", ""), ("\n a:", ""),
        ])
    func deepNestingIsRefusedInGoodTime(open: String, close: String) {
        let count = SettingsText.sizeLimit / (open.utf8.count + close.utf8.count)
        let yaml = String(repeating: open, count: count) + String(repeating: close, count: count)
        // Comments and empty lines alone are nothing.
        #expect(faults(yaml).count == (open == "#" ? 0 : 1))
    }

    @Test func nestingIsBounded() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(faults("tor:\n  mode: " + nested(30)) == ["line 2: tor.mode: must be a single value"])
        #expect(faults("tor:\n  mode: " + nested(33)) == ["line 2: is nested deeper than 32 levels"])
    }

    @Test func manyKeysAreToldInGoodTime() {
        let yaml = (0..<4_000).map { "k\($0): 1\n" }.joined()
        #expect(faults(yaml).count == 4_000)
        let long = String(repeating: "k", count: 100_000)
        #expect(faults("? \(long)\n: 1").allSatisfy { $0.count < 300 })
    }

    @Test func aMessageHoldsNoControlCharactersOfTheFile() {
        let found = faults("\"tor\\e[31m\\n\": 1\ntor:\n  mode: \"\\e[2J\"")
        #expect(found.count == 2)
        for fault in found { #expect(fault.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(fault)") }
    }

    @Test func namesThatRunOverLinesAreRefused() {
        for value in ["\"a\\nb\"", "\"a\\0\"", "|\n    a\n    b\n"] {
            let found = faults("tor:\n  binary: \(value)")
            #expect(found.count == 1 && found[0].contains("text without line breaks"), "\(found)")
        }
    }
}
