import Calls
import Node

extension NodeCalls {
    /// The calls of the console's login, and the stream of events: ``Doors/ConsoleDoor`` carries them out itself.
    nonisolated static let login: [CallText] = [
        CallText(
            "GET session", "getSession", "Whether there is a session.", answer: .done("There is.")),
        CallText(
            "POST session", "enter",
            "Enter by a link's secret, which is good once, or by the passphrase.",
            more:
                "At the console only. A wrong, a spent and an old link, a wrong passphrase and none at all have the same answer.",
            asks: .either([["link": .text(1024)], ["passphrase": .text(1024)]]),
            answer: .session("Entered. The session is in the cookie."), refuses: [.conflict],
            caller: .anybody),
        CallText(
            "DELETE session", "leave", "End the session.", answer: .done("It has ended."),
            refuses: [.conflict]),
        CallText(
            "GET sessions", "listSessions", "The browsers that have entered.",
            answer: .json(
                "All.",
                [
                    "sessions": .list([
                        "id": .text, "browser": .text.said("Firefox, Linux; empty: nothing is known of it."),
                        "used": .time, "ends": .time, "own": .flag.said("It is the one that asks."),
                    ])
                ]), refuses: [.conflict]),
        CallText(
            "DELETE sessions/{id}", "endSession", "End a browser's session.", answer: .done("It has ended."),
            refuses: [.absent, .conflict]),
        CallText(
            "PUT passphrase", "setPassphrase", "Set the passphrase. All other sessions end.",
            more: "At the console only. The lengths are bytes.", asks: ["passphrase": .text(10...1024)],
            answer: .done("It is set."), refuses: [.conflict, .unfit]),
        CallText(
            "DELETE passphrase", "removePassphrase",
            "Let nobody in by a passphrase any more. All other sessions end.",
            answer: .done("There is none."), refuses: [.conflict]),
        CallText(
            "GET events", "listen", "Hear when something changes.",
            more:
                "At the console only. Server-sent events without an end: state, phones, mailboxes and peers. They have no data; ask by the calls of these names. Every three seconds alive: the node is there. Four at a time for each session.",
            answer: .stream("The stream.")),
    ]
}
