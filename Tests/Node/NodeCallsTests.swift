import Foundation
import JSONCoding
import Reactor
import Testing

@testable import Node

/// The calls of the console and their description.
@Suite struct NodeCallsTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Console/openapi.json").standardized

    private func document() throws -> JSON {
        var values = 0
        // Longer than what the node reads from outside: Foundation reads it.
        func json(_ value: Any) -> JSON {
            values += 1
            return switch value {
            case let members as [String: Any]: .object(JSON.Object(members.map { ($0, json($1)) }))
            case let items as [Any]: .array(items.map(json))
            case let text as String: .string(text)
            case _: .null
            }
        }
        return json(try JSONSerialization.jsonObject(with: Data(contentsOf: Self.file)))
    }

    /// `GET phones/{}`. Those of the login are the console's alone.
    private func described() throws -> Set<String> {
        var found: Set<String> = []
        for (path, operations) in try #require(document()["paths"]?.object) {
            let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : String($0) }
            for method in try #require(operations.object).keys {
                found.insert("\(method.uppercased()) \(segments.joined(separator: "/"))")
            }
        }
        return found
    }

    @Test func theDescriptionHasEachCallAndNoOther() async throws {
        let calls = await calls()
        #expect(calls.count > 15)
        let login = try described().filter {
            $0.hasSuffix(" session") || $0.hasSuffix(" passphrase") || $0 == "GET events"
        }
        #expect(login.count == 6)
        #expect(try described().subtracting(login) == calls)
    }

    @EventLoop
    private func calls() -> Set<String> {
        Set(NodeCalls.all.map { "\($0.method) \($0.path.joined(separator: "/"))" })
    }

    /// Each answer and each parameter is there, and each reference leads somewhere.
    @Test func theDescriptionIsWhole() throws {
        let document = try document()
        #expect(document["openapi"]?.string == "3.1.0")
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
        #expect(references > 30)
        for (path, operations) in try #require(document["paths"]?.object) {
            for (method, operation) in try #require(operations.object) {
                #expect(operation["summary"]?.string?.hasSuffix(".") == true, "\(method) \(path)")
                #expect(operation["responses"]?.object?.isEmpty == false, "\(method) \(path)")
                let inPath = operation["parameters"]?.array?.filter { $0["in"]?.string == "path" }
                #expect(path.count { $0 == "{" } == inPath?.count ?? 0, "\(method) \(path)")
            }
        }
    }
}
