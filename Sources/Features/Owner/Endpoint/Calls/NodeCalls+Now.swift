import Calls
import Dispatching
import Doors
import HTTP1
import JSONCoding
import Node
import Overview
import Reactor
import Relay
import Tor

/// The calls about what happened last, and whether the node can be reached from outside.
extension NodeCalls {
    nonisolated static let nowCalls: [Call] = [
        Call(
            CallText(
                "GET history", "getHistory", "The last twenty changes of the checks.",
                answer: .json(
                    "The latest first.",
                    ["events": .list(["at": .time, "level": .level, "name": .text, "words": .text])])),
            by: .node { calls, _ in
                HTTPResponse(
                    status: 200,
                    json: ["events": .array(calls.node.history.timeline.events.reversed().map(\.json))])
            }),
        Call(
            CallText(
                "POST reach", "reach", "Call the own address by the own tor, as somebody outside does.",
                answer: .json(
                    "What came of it.",
                    [
                        "outcome": .choice(["reached", "another", "unreached", "unanswered"]),
                        "reason": .nullable(.text), "milliseconds": .number,
                    ]), refuses: [.conflict]),
            by: .node { calls, _ async throws(CallRefusal) in try await calls.reach() }),
    ]

    /// Calls the node's own address. Tor has each door's connection within half a minute, or has not.
    private func reach() async throws(CallRefusal) -> HTTPResponse {
        guard !isReaching else {
            throw CallRefusal(.early, "busy", "a test is under way: try again in a moment")
        }
        isReaching = true
        defer { isReaching = false }
        guard let (answer, duration) = await node.presence.callOwnAddress() else {
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
