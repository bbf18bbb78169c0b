import FeatureList
import Foundation
import JSONCoding
import Reactor
import Testing

@testable import Calls
@testable import Node
@testable import Owner

/// The calls of the console, the document that is made of them, and who makes them.
@Suite struct NodeCallsTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources").standardized

    private let calls = NodeCalls.login + NodeCalls.all(with: .built).map(\.text)

    @Test func eachCallHasANameAndALineOfItsOwn() {
        #expect(calls.count > 60)
        #expect(Set(calls.map(\.name)).count == calls.count)
        #expect(Set(calls.map { "\($0.method) \($0.path)" }).count == calls.count)
        for call in calls {
            #expect(call.summary.hasSuffix("."), "\(call.name)")
            for segment in call.path where NodeCalls.Call.isPlace(segment) {
                #expect(CallText.inPaths.contains { $0.word == segment }, "\(call.name)")
            }
        }
    }

    /// Each answer and each parameter is there, and each reference leads somewhere.
    @Test func theDocumentIsWhole() throws {
        let document = CallDocument.json(of: calls)
        let components = try #require(document["components"])
        var references = 0
        func look(_ value: JSON) {
            for item in value.array ?? [] { look(item) }
            for (key, member) in value.object ?? [:] {
                if key == "$ref", let text = member.string {
                    references += 1
                    let parts = text.components(separatedBy: "/")
                    #expect(parts.count == 4 && components[parts[2]]?[parts[3]] != nil, "\(text)")
                }
                look(member)
            }
        }
        look(document)
        #expect(references > 300)
        var operations = 0
        for (path, methods) in try #require(document["paths"]?.object) {
            for (method, operation) in try #require(methods.object) {
                operations += 1
                #expect(operation["responses"]?.object?.isEmpty == false, "\(method) \(path)")
                let inPath = operation["parameters"]?.array?.filter { $0["in"]?.string == "path" }
                #expect(path.count { $0 == "{" } == inPath?.count ?? 0, "\(method) \(path)")
            }
        }
        #expect(operations == calls.count)
    }

    // MARK: Who makes them

    /// A call as the text of a program has it: `${name}` and `\(name)` stand for any segment.
    private struct Made: CustomStringConvertible {
        let method: String
        let path: [String]
        /// The members of its body, where they are written there.
        let members: [String]
        let description: String

        func fits(_ call: CallText) -> Bool {
            call.method == method && call.path.count == path.count
                && zip(call.path, path).allSatisfy {
                    NodeCalls.Call.isPlace($0) || $1.hasPrefix("*") || $0 == $1
                }
                && members.allSatisfy { name in call.asks.members.contains { $0.name == name } }
        }
    }

    private func made(in folder: String, _ ending: String) throws -> [Made] {
        let files = try #require(
            FileManager.default.enumerator(
                at: Self.sources.appending(path: folder), includingPropertiesForKeys: nil))
        let line =
            /call(?:ForFile)?\(\s*"([A-Z]+)",\s*["`]([^"`]+)["`](?:, (?:\{ ([^{}]*) \}|\[([^\[\]]*)\])\))?/
        var found: [Made] = []
        for case let file as URL in files where file.pathExtension == ending {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: line) {
                let path = match.2.replacing(/\$\{[^}]*\}|\\\([^()]*\)/, with: "*").prefix { $0 != "?" }
                let members = (match.3 ?? match.4 ?? "").matches(of: /(?:^|, )"?([a-z_]+)"?/).map {
                    String($0.1)
                }
                found.append(
                    Made(
                        method: String(match.1), path: path.split(separator: "/").map { String($0) },
                        members: members, description: "\(file.lastPathComponent): \(match.0)"))
            }
        }
        return found
    }

    @Test(arguments: [("Console", "js", 30), ("Features", "swift", 25)])
    func whoMakesACallMakesOneThatIsThere(_ folder: String, _ ending: String, _ least: Int) throws {
        let made = try made(in: folder, ending)
        #expect(made.count >= least)
        for one in made { #expect(calls.contains { one.fits($0) }, "\(one)") }
        #expect(made.contains { !$0.members.isEmpty })
    }

    // MARK: Reading

    @Test(
        arguments: [
            (#"{"name":"a"}"#, nil), (#"{"name":"a","other":true}"#, "known members are"),
            ("{}", "name is missing"), ("", "name is missing"), ("[]", "the body must be an object of JSON"),
            (#"{"name":7}"#, "name must be a text"), (#"{"name":"12345678"}"#, nil),
            (#"{"name":"123456789"}"#, "name has more than 8 bytes"),
            (#"{"name":"ääääa"}"#, "name has more than 8 bytes"),
            (#"{"name":"a","flag":"true"}"#, "flag must be true or false"),
            (#"{"name":"a","flag":null}"#, "flag must be true or false"),
            (#"{"name":"a","count":0}"#, "count must be a whole number from 1 on"),
            (#"{"name":"a","count":1.5}"#, "count must be a whole number from 1 on"),
            (#"{"name":"a","word":"up"}"#, nil), (#"{"name":"a","word":"Up"}"#, "word must be up or down"),
            (#"{"name":"a","numbers":[1,2]}"#, nil),
            (#"{"name":"a","numbers":[1,0]}"#, "numbers has an item that must be a whole number from 1 on"),
            (#"{"name":"a","numbers":[1,2,3]}"#, "numbers has more than 2 items"),
            (#"{"name":"a","numbers":1}"#, "numbers must be a list"),
            (#"{"name":"a","texts":{"x":"y"}}"#, nil),
            (#"{"name":"a","texts":{"x":1}}"#, "texts has a member that must be a text"),
            (#"{"name":"a","texts":{"x":"y","z":"y"}}"#, "texts must be an object of at most 1 texts"),
            (#"{"name":"a","none":null}"#, nil),
        ] as [(String, String?)])
    func aBodyIsReadByItsShape(_ body: String, _ words: String?) throws {
        let shape: CallShape = [
            "name": .text(8), "flag?": .flag, "count?": .number(from: 1), "word?": .choice(["up", "down"]),
            "numbers?": .list(.number(from: 1), most: 2), "texts?": .texts(most: 1, longest: 4),
            "none?": .nullable(.text(1)),
        ]
        let read = Result { () throws(CallRefusal) in try CallBody(Array(body.utf8), as: shape) }
        switch read {
        case .success: #expect(words == nil)
        case .failure(let refusal):
            #expect(refusal.status == 400)
            #expect(refusal.sentence.hasPrefix(try #require(words, "\(refusal)")), "\(refusal)")
        }
    }

    @Test(
        arguments: [
            ("after=7&on=true", nil), ("after=-1", "after must be a whole number"),
            ("after=", "after must be"),
            ("on=yes", "on must be true or false"), ("before=1", "known members are after, on"),
        ] as [(String, String?)])
    func aQueryIsReadByItsShape(_ query: String, _ words: String?) throws {
        let shape: CallShape = ["after?": .number(from: 0), "on?": .flag]
        switch Result(catching: { () throws(CallRefusal) in try CallBody(query: query, as: shape) }) {
        case .success(let body):
            #expect(words == nil && body.number("after") == 7 && body.flag("on"))
        case .failure(let refusal):
            #expect(refusal.sentence.hasPrefix(try #require(words, "\(refusal)")), "\(refusal)")
        }
    }

    @Test func oneOfSeveralObjectsTakesTheMembersOfAll() throws {
        let shape = CallShape.either([["link": .text(8)], ["word": .text(8), "more?": .flag]])
        #expect(try CallBody(Array(#"{"word":"a"}"#.utf8), as: shape).text("word") == "a")
        #expect(throws: CallRefusal.self) { try CallBody(Array(#"{"others":1}"#.utf8), as: shape) }
        #expect(throws: CallRefusal.self) { try CallBody([], as: shape).text("link") }
    }
}
