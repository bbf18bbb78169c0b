import Dispatching
import Doors
import HTTP1
import JSONCoding
import Overview
import Reactor
import Relay
import Tor

/// What happened last, what waits, and whether the node can be reached from outside.
extension NodeCalls {
    nonisolated static let nowCalls: [Call] = [
        Call("GET", "history") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return HTTPResponse(
                status: 200,
                json: ["events": .array(calls.node.report.timeline.events.reversed().map(\.json))])
        },
        Call("POST", "waiting", "retry") { calls, asked throws(CallRefusal) in
            try calls.change(asked.body) { $0.hurry(app: $1, host: $2) }
        },
        Call("POST", "waiting", "drop") { calls, asked throws(CallRefusal) in
            try calls.change(asked.body) { $0.giveUp(app: $1, host: $2) }
        },
        Call("POST", "reach") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return try await calls.reach()
        },
    ]

    /// Of one app, of one host of it, or of all.
    private func change(
        _ body: CallBody, _ change: @EventLoop (Dispatcher, String?, LaneHost?) -> Int
    ) throws(CallRefusal) -> HTTPResponse {
        try body.refuseOthers(but: "app", "host")
        let app = try body.optionalText("app", limit: 256)
        let host = try body.optionalText("host", limit: 512).map { LaneHost($0) }
        guard let dispatcher = node.dispatcher else {
            throw CallRefusal(.early, "not_started", "the node has not started yet")
        }
        return HTTPResponse(
            status: 200, json: ["count": .integer(Int64(change(dispatcher, app, host)))])
    }

    /// Tor has each door's connection within half a minute, or has not.
    private func reach() async throws(CallRefusal) -> HTTPResponse {
        guard !isReaching else {
            throw CallRefusal(.unavailable, "busy", "a test is under way: try again in a moment")
        }
        isReaching = true
        defer { isReaching = false }
        guard let (answer, duration) = await node.presence?.callOwnAddress() else {
            throw CallRefusal(
                .conflict, "no_way_out",
                "the node can't call itself: it is not published yet, or tor takes no connections")
        }
        let (outcome, reason): (String, String?) =
            switch answer {
            case .own: ("reached", nil)
            case .another: ("another", nil)
            case .unreached(let words): ("unreached", words)
            case .unanswered(let words): ("unanswered", words)
            }
        return HTTPResponse(
            status: 200,
            json: [
                "outcome": .string(outcome), "reason": reason.map { .string($0) } ?? .null,
                "milliseconds": .integer(duration.nanoseconds / 1_000_000),
            ])
    }
}

extension Timeline.Event {
    fileprivate var json: JSON {
        [
            "at": .integer(at / 1000), "level": .string(level.rawValue), "name": .string(name),
            "words": .string(words),
        ]
    }
}
