import Calls
import Doors
import Encodings
import HTTP1
import JSONCoding
import Node
import Overview
import Reactor

extension OwnerFeature {
    package nonisolated static let calls: [NodeCalls.Call] =
        NodeCalls.stateCalls + NodeCalls.phoneCalls + NodeCalls.peerCalls
        + NodeCalls.registrationCalls + NodeCalls.keyCalls + NodeCalls.keepCalls + NodeCalls.settingsCalls
        + NodeCalls.wayCalls + NodeCalls.credentialCalls + NodeCalls.nowCalls + NodeCalls.ringCalls
        + NodeCalls.waitingCalls + NodeCalls.widgetCalls + NodeCalls.browserCalls
}

extension NodeCalls {
    /// Returns the most bytes that the body of this request may have; `nil`: as many as any.
    nonisolated static func bodyLimit(_ request: HTTPRequest) -> Int? {
        switch (request.method, request.path) {
        case ("POST", "/api/v1/restore"): longestBody
        case ("POST", "/api/v1/settings/check"), ("PUT", "/api/v1/settings"): longestSettings
        case _: nil
        }
    }

    fileprivate nonisolated static let stateCalls: [Call] = [
        Call(
            CallText(
                "GET state", "getState", "What the status page shows.",
                answer: .json("As /status.json: times and ages in seconds, sizes in bytes.", stateShape)),
            by: .node { calls, _ in await calls.state("application/json") { StatusJSON.bytes(of: $0) } }),
        Call(
            CallText(
                "GET state/drawing", "drawState",
                "The state as the status page draws it, as a part of a page.",
                answer: .html(
                    "Elements with the classes of state.css, and data-word where a label has a translation.")),
            by: .node { calls, _ in await calls.state("text/html; charset=utf-8") { StatusPage.part(of: $0) }
            }),
        Call(
            CallText(
                "GET state/text", "getStateText", "The state as text, for a terminal.",
                asks: ["colours?": .flag.said("With colours of a terminal.")],
                answer: .text("As onionbell status shows it.")),
            by: .node { calls, asked in
                let isColoured = asked.body.flag("colours")
                return await calls.state("text/plain; charset=utf-8") {
                    Array(StatusText.text(of: $0, coloured: isColoured).utf8)
                }
            }),
        Call(
            CallText(
                "GET openapi.json", "getDescription", "This document.",
                answer: .json("The document.", .open("object"))),
            by: .files { files, _ in
                let all = NodeCalls.all(with: files.settings.built)
                return HTTPResponse(status: 200, json: CallDocument.json(of: login + all.map(\.text)))
            }),
        Call(
            CallText(
                "POST links", "makeLink", "Make a link into the console. Those before it become invalid.",
                answer: .made(
                    "One for each address of the console, good once and for 15 minutes.",
                    ["links": .list(.text)]),
                refuses: [.conflict]),
            by: .node { calls, _ async throws(CallRefusal) in
                let links = try await calls.console.makeLinks()
                guard !links.isEmpty else {
                    throw CallRefusal(
                        .conflict, "login_elsewhere",
                        "the console has no login of its own: open it where the platform offers it")
                }
                return HTTPResponse(status: 201, json: ["links": .array(links.map { .string($0) })])
            }),
    ]

    private func state(_ type: String, _ words: @escaping @Sendable (Report) -> [UInt8]) async -> HTTPResponse
    {
        var response = HTTPResponse(status: 200, body: await desk.put(words))
        response.fields.append("content-type", type)
        return response
    }

    private nonisolated static let stateShape = CallShape.named(
        "State",
        .part([
            "version": .text, "time": .number, "status": .level, "checks": .open("array"),
            "restart_due": .list(.text).said(
                "Keys that were changed since the start, and are used after the next one."),
            "restart?": .nullable([
                "unserved": .open("number").said("Seconds for which nothing was taken."),
                "waited": .number.said("Connections that had waited until the node took them."),
            ]).said("The restart in place by which the node came; null: it came otherwise."),
            "onion": .open("object"), "outbox": .open("object"), "endpoints": .open("array"),
            "gateways": .open("array"),
        ]))
}
