import Calls
import Doors
import Encodings
import Figures
import HTTP1
import JSONCoding
import Node
import Overview

/// How the node is, for the widgets of other programs, and their tokens.
extension NodeCalls {
    nonisolated static let widgetCalls: [Call] = [
        Call(
            CallText(
                "GET widget", "getWidget", "Tell in four figures how the node is.",
                more:
                    "For a REST sensor and for scripts. A token of /widget-tokens is enough, in the field Authorization or as the parameter token.",
                answer: .json("The figures.", WidgetFigures.shape), caller: .widget),
            by: .node { calls, _ in
                HTTPResponse(status: 200, json: await calls.desk.put { WidgetFigures(of: $0).json })
            }),
        Call(
            CallText(
                "GET widget/umbrel", "getUmbrelWidget",
                "Tell the same in the form of Umbrel's widgets (four-stats).",
                answer: .json("The widget.", WidgetFigures.fourStatsShape), caller: .widget),
            by: .node { calls, _ in
                HTTPResponse(status: 200, json: await calls.desk.put { WidgetFigures(of: $0).fourStats })
            }),
        Call(
            CallText(
                "GET widget-tokens", "listWidgetTokens", "List the tokens of widgets by their names.",
                answer: .json("The names.", ["names": .list(.text)]), refuses: [.conflict]),
            by: .node { calls, _ async throws(CallRefusal) in
                let names = try calls.console.widgets.tokens.map { JSON.string($0.name) }
                return HTTPResponse(status: 200, json: ["names": .array(names)])
            }),
        Call(
            CallText(
                "POST widget-tokens", "addWidgetToken",
                "Make a token by which programs read the widget, and nothing else.",
                asks: ["name": .peerName],
                answer: .made("The token, which is shown once.", ["name": .text, "token": .text]),
                refuses: [.conflict, .unfit]),
            by: .node { calls, asked async throws(CallRefusal) in
                let name = try asked.body.text("name")
                let token = try await calls.console.addWidget(name)
                return HTTPResponse(status: 201, json: ["name": .string(name), "token": .string(token)])
            }),
        Call(
            CallText(
                "DELETE widget-tokens/{peer}", "removeWidgetToken", "Revoke a token of a widget.",
                answer: .done("It is revoked."), refuses: [.absent, .conflict]),
            by: .node { calls, asked async throws(CallRefusal) in
                try await calls.console.removeWidget(asked.segment)
                return HTTPResponse(status: 204)
            }),
    ]

    var console: NodeConsole {
        get throws(CallRefusal) {
            guard let console = node.companion(OwnerCompanion.self)?.console else {
                throw CallRefusal(.conflict, "console_off", "the node has no console: set console.listen")
            }
            return console
        }
    }
}

/// The figures that a widget shows: nothing by which anybody could be found.
struct WidgetFigures {
    /// `ok`, `warning` or `failing`.
    let state: String
    /// The notifications delivered in the last 24 hours.
    let delivered: Int
    let waiting: Int
    /// Seconds since 1970; `nil`: none since the node's start.
    let lastRing: Int64?
    /// Seconds ago.
    let lastRingAge: Int64?

    init(of report: Report) {
        state = report.verdict.level.rawValue
        delivered = report.history.sum(ofLast: History.minutes).delivered
        waiting = report.outbox.waiting
        lastRingAge = report.lastDelivery.map { report.age(of: $0).components.seconds }
        lastRing = lastRingAge.map { report.now.milliseconds / 1000 - $0 }
    }

    static let shape: CallShape = [
        "state": .level, "delivered_today": .number.said("Within the last 24 hours."), "waiting": .number,
        "last_ring": .nullable(.number).said("Seconds since 1970; null: none since the node's start."),
    ]
    static let fourStatsShape: CallShape = [
        "type": .choice(["four-stats"]), "link": .text, "refresh": .text,
        "items": .list(["title": .text, "text": .text, "subtext": .text], most: 4),
    ]

    /// The figures as a REST sensor of Home Assistant reads them, and any script.
    var json: JSON {
        [
            "state": .string(state), "delivered_today": .integer(Int64(delivered)),
            "waiting": .integer(Int64(waiting)),
            "last_ring": lastRing.map { .integer($0) } ?? .null,
        ]
    }

    /// The figures in the form of the type `four-stats` of Umbrel's widgets.
    var fourStats: JSON {
        func item(_ title: String, _ text: String, _ subtext: String) -> JSON {
            ["title": .string(title), "text": .string(text), "subtext": .string(subtext)]
        }
        let (age, unit) = lastRingAge.map(WidgetFigures.span) ?? ("-", "")
        return [
            "type": "four-stats", "link": "", "refresh": "30s",
            "items": .array([
                item("Node", state == "ok" ? "Well" : "Look", ""),
                item("Delivered", "\(delivered)", "in 24 hours"),
                item("Waiting", "\(waiting)", "now"),
                item("Last ring", age, unit),
            ]),
        ]
    }

    private static func span(_ seconds: Int64) -> (String, String) {
        switch seconds {
        case ..<60: ("\(max(0, seconds))", "seconds ago")
        case ..<3600: ("\(seconds / 60)", "minutes ago")
        case ..<86_400: ("\(seconds / 3600)", "hours ago")
        case _: ("\(seconds / 86_400)", "days ago")
        }
    }
}
