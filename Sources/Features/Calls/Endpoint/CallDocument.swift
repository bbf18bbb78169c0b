import Encodings
import JSONCoding
import Node

/// The document that describes the calls (OpenAPI 3.1), made of the calls themselves.
package enum CallDocument {
    package static func json(of calls: [CallText]) -> JSON {
        var paths = JSON.Object()
        var named = JSON.Object()
        for call in calls {
            let path = "/" + call.path.joined(separator: "/")
            var operations = paths[path]?.object ?? [:]
            operations[call.method.lowercased()] = operation(of: call, &named)
            paths[path] = .object(operations)
        }
        named["Fault"] = schema(of: fault, &named)
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Onionbell's node", "version": "1",
                "license": ["name": "AGPL-3.0-or-later", "identifier": "AGPL-3.0-or-later"],
                "description":
                    "What the owner of a node sees and does. Served behind the console's login, and without one over the socket `status` in the state directory, which only the node's user can open. At the console every change has the fields Origin (the console's own) and Onionbell-Console: 1.",
            ],
            "servers": .array([["url": "/api/v1"]]), "security": .array([["session": .array([])]]),
            "paths": .object(paths),
            "components": [
                "securitySchemes": [
                    "session": [
                        "type": "apiKey", "in": "cookie", "name": "onionbell",
                        "description": "The name has the console's port behind it: onionbell-9480.",
                    ],
                    "widget": ["type": "http", "scheme": "bearer"],
                ],
                "schemas": .object(named),
            ],
        ]
    }

    private static let fault: CallShape = [
        "code": .text.said("Stays the same from version to version."),
        "message": .text.said("A sentence for people."),
        "kind?": .choice(CallRefusal.Kind.allCases.map(\.rawValue))
            .said("By which a program decides what to do. A login has none."),
    ]

    // MARK: One call

    private static func operation(of call: CallText, _ named: inout JSON.Object) -> JSON {
        var members: JSON.Object = ["operationId": .string(call.name), "summary": .string(call.summary)]
        members["description"] = call.more.map { .string($0) }
        var parameters: [JSON] = call.path.compactMap { segment in
            CallText.inPaths.first { $0.word.hasSameBytes(as: segment) }.map { word, shape in
                [
                    "name": .string(String(word.dropFirst().dropLast())), "in": "path",
                    "required": .bool(true),
                    "schema": schema(of: shape, &named),
                ]
            }
        }
        let isQuestion = !call.asks.members.isEmpty
        if call.method == "GET" {
            for member in call.asks.members {
                parameters.append([
                    "name": .string(member.name), "in": "query", "required": .bool(!member.isOptional),
                    "schema": schema(of: member.shape, &named),
                ])
            }
        } else if isQuestion {
            let mustBe = call.asks.members.contains { !$0.isOptional } && call.asks.isObject
            members["requestBody"] = [
                "required": .bool(mustBe),
                "content": content("application/json", schema(of: call.asks, &named)),
            ]
        }
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        switch call.caller {
        case .session: break
        case .widget:
            members["security"] = .array([["session": .array([])], ["widget": .array([])]])
        case .anybody: members["security"] = .array([])
        }
        members["responses"] = .object(responses(to: call, &named))
        return .object(members)
    }

    private static func responses(to call: CallText, _ named: inout JSON.Object) -> JSON.Object {
        var responses = JSON.Object()
        func refusal(_ status: Int, _ words: String) {
            responses["\(status)"] = [
                "description": .string(words),
                "content": content("application/json", ["$ref": "#/components/schemas/Fault"]),
            ]
        }
        refusal(400, "The request is none.")
        refusal(403, "Another page asks, or the login does not accept this.")
        refusal(503, "Something the node needs does not answer.")
        switch call.caller {
        case .session: refusal(401, "No session.")
        case .widget: refusal(401, "No session, and no token that is good.")
        case .anybody: refusal(429, "Too many attempts.")
        }
        if call.method != "GET" { refusal(413, "The body is too long.") }
        for kind in call.refuses {
            switch kind {
            case .absent: refusal(404, "It is not there.")
            case .conflict, .unconfigured: refusal(409, "What is there, or the settings, forbid it.")
            case .unfit: refusal(422, "It can't be used.")
            case .malformed, .unavailable, .early, .foreign: break
            }
        }
        func answer(_ status: Int, _ words: String, _ type: String, _ schema: JSON) {
            responses["\(status)"] = ["description": .string(words), "content": content(type, schema)]
        }
        switch call.answer {
        case .json(let status, let words, let shape):
            answer(status, words, "application/json", schema(of: shape, &named))
        case .text(let words): answer(200, words, "text/plain; charset=utf-8", ["type": "string"])
        case .html(let words): answer(200, words, "text/html; charset=utf-8", ["type": "string"])
        case .file(let words):
            answer(200, words, "application/octet-stream", ["type": "string", "format": "binary"])
        case .stream(let words): answer(200, words, "text/event-stream", ["type": "string"])
        case .done(let words): responses["204"] = ["description": .string(words)]
        case .session(let words):
            responses["204"] = [
                "description": .string(words), "headers": ["Set-Cookie": ["schema": ["type": "string"]]],
            ]
        }
        return responses
    }

    private static func content(_ type: String, _ schema: JSON) -> JSON {
        let media: JSON = ["schema": schema]
        return .object(JSON.Object([(type, media)]))
    }

    // MARK: Shapes

    private static func schema(of shape: CallShape, _ named: inout JSON.Object) -> JSON {
        switch shape {
        case .text(let lengths, let pattern):
            var members: JSON.Object = ["type": "string"]
            if lengths.lowerBound > 0 { members["minLength"] = .integer(Int64(lengths.lowerBound)) }
            if lengths.upperBound < .max { members["maxLength"] = .integer(Int64(lengths.upperBound)) }
            members["pattern"] = pattern.map { .string($0) }
            return .object(members)
        case .flag: return ["type": "boolean"]
        case .number(let least):
            return least == .min ? ["type": "integer"] : ["type": "integer", "minimum": .integer(least)]
        case .choice(let words): return ["type": "string", "enum": .array(words.map { .string($0) })]
        case .list(let item, let most):
            var members: JSON.Object = ["type": "array", "items": schema(of: item, &named)]
            if most < .max { members["maxItems"] = .integer(Int64(most)) }
            return .object(members)
        case .texts(let most, let longest):
            return [
                "type": "object", "maxProperties": .integer(Int64(most)),
                "additionalProperties": schema(of: .text(longest), &named),
            ]
        case .object(let members):
            let required = members.filter { !$0.isOptional }.map { JSON.string($0.name) }
            let properties = members.map { ($0.name, schema(of: $0.shape, &named)) }
            return [
                "type": "object", "required": .array(required),
                "properties": .object(JSON.Object(properties)),
                "additionalProperties": .bool(false),
            ]
        case .part(let shape):
            let members = schema(of: shape, &named).object ?? [:]
            return .object(members.filter { !$0.key.hasSameBytes(as: "additionalProperties") })
        case .either(let shapes): return ["oneOf": .array(shapes.map { schema(of: $0, &named) })]
        case .nullable(let shape):
            return ["anyOf": .array([schema(of: shape, &named), ["type": "null"]])]
        case .open(let type): return ["type": .string(type)]
        case .named(let name, let shape):
            if named[name] == nil { named[name] = schema(of: shape, &named) }
            return ["$ref": .string("#/components/schemas/\(name)")]
        case .said(let shape, let words):
            let members = schema(of: shape, &named).object ?? [:]
            return .object(members.merging(["description": .string(words)]))
        }
    }
}
