import Calls
import Clocks
import Dispatching
import Doors
import Encodings
import Glibc
import HTTP1
import JSONCoding
import Node
import Persistence
import Reactor
import Relay

/// The calls about notifications that wait for delivery. No answer has a token or a message.
extension NodeCalls {
    nonisolated static let waitingCalls: [Call] = [
        Call(
            CallText(
                "GET waiting", "listWaiting", "What waits, without tokens and messages: at most 1,000.",
                asks: [
                    "app?": .text(256).said("For this one only."),
                    "after?": .number(from: 0).said("A sequence: those behind it."),
                ],
                answer: .json(
                    "In the order in which it came.",
                    [
                        "rows": .list(OperatorsOutbox.Row.shape),
                        "more": .flag.said("There are more behind the last one."), "running": .flag,
                    ])),
            by: .store { files, asked throws(CallRefusal) in
                try files.waiting(for: asked.body.optionalText("app"), after: asked.body.number("after") ?? 0)
            }),
        // Of a long file it takes long, and no other call waits for it.
        Call(
            CallText(
                "GET waiting/check", "checkWaiting", "Check the store of what waits, and count.",
                answer: .json("What was found; the counts only of a sound one.", checkedShape)),
            by: .either { calls, _ async throws(CallRefusal) in
                let files = calls.files
                return try await calls.keep { () throws(CallRefusal) in try files.checkWaiting() }
            } stopped: { files, _ throws(CallRefusal) in
                try files.checkWaiting()
            }),
        Call(
            CallText(
                "POST waiting/retry", "retryWaiting", "Try at once what waits.",
                asks: OperatorsOutbox.Selection.shape,
                answer: .json("How many they were.", ["count": .number, "running": runningShape])),
            by: .either { calls, asked async throws(CallRefusal) in
                let dispatcher = calls.dispatcher
                switch try OperatorsOutbox.Selection(asked.body) {
                case .sequences(let numbers): return .counted(dispatcher.retryNow(numbers), isRunning: true)
                case .lanes(let app, let host):
                    return .counted(dispatcher.retryNow(app: app, host: host), isRunning: true)
                }
            } stopped: { files, asked throws(CallRefusal) in
                let wanted = try OperatorsOutbox.Selection(asked.body)
                return try files.change { .counted(try $0.makeDue(wanted), isRunning: false) }
            }),
        Call(
            CallText(
                "POST waiting/drop", "dropWaiting", "Give up what waits; nobody ever gets it.",
                asks: OperatorsOutbox.Selection.shape,
                answer: .json(
                    "How many they were.",
                    [
                        "count": .number,
                        "under_way": .number.said("How many are just being sent, and were not given up."),
                        "running": runningShape,
                    ])),
            by: .either { calls, asked async throws(CallRefusal) in
                let dispatcher = calls.dispatcher
                switch try OperatorsOutbox.Selection(asked.body) {
                case .sequences(let numbers): return .dropped(dispatcher.drop(numbers), isRunning: true)
                case .lanes(let app, let host):
                    return .dropped(dispatcher.drop(app: app, host: host), isRunning: true)
                }
            } stopped: { files, asked throws(CallRefusal) in
                let wanted = try OperatorsOutbox.Selection(asked.body)
                return try files.change { .dropped((try $0.drop(wanted), 0), isRunning: false) }
            }),
        Call(
            CallText(
                "POST waiting/move", "moveWaiting", "Give what waits for an app to another one.",
                more:
                    "The first app must not be in the settings, or have no credentials. All of it is moved or nothing; not_now: try again in a moment.",
                asks: ["app": .text(256), "to": .text(256)],
                answer: .json("How many they were.", ["count": .number, "running": runningShape]),
                refuses: [.conflict]),
            by: .either { calls, asked async throws(CallRefusal) in
                let wanted = try WantedTransfer(asked.body, in: calls.node.settings)
                switch calls.dispatcher.move(app: wanted.app, to: wanted.other) {
                case .moved(let count): return .counted(count, isRunning: true)
                case .refused:
                    throw CallRefusal(
                        .conflict, "app_in_use",
                        "the first app must not be in the settings, or have no credentials, and the other one must have credentials and the same hosts"
                    )
                case .notNow:
                    throw CallRefusal(
                        .early, "not_now",
                        "nothing was moved: some of it is just being read, given up or written. Try again in a moment"
                    )
                }
            } stopped: { files, asked throws(CallRefusal) in
                let wanted = try WantedTransfer(asked.body, in: files.settings)
                return try files.change {
                    .counted(try $0.move(app: wanted.app, toApp: wanted.other), isRunning: false)
                }
            }),
    ]

    private nonisolated static let runningShape = CallShape.flag.said(
        "Whether it concerns a node that runs, which acts at once.")
    private nonisolated static let checkedShape: CallShape = [
        "sound": .flag, "faults": .list(.text), "running": .flag, "advice": .nullable(.text),
        "waiting?": .number, "bytes?": .number, "oldest_ms?": .nullable(.number),
        "apps?": .list([
            "app": .text, "waiting": .number,
            "trouble": .nullable(.choice(["not configured", "no credentials"])).said(
                "Why it waits until it expires."),
        ]), "remembered?": .number, "dead_devices?": .number,
    ]

    private var dispatcher: Dispatcher { node.store.dispatcher }
}

extension HTTPResponse {
    fileprivate static func counted(_ count: Int, isRunning: Bool) -> HTTPResponse {
        HTTPResponse(status: 200, json: ["count": .integer(Int64(count)), "running": .bool(isRunning)])
    }

    fileprivate static func dropped(_ dropped: (count: Int, underWay: Int), isRunning: Bool) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            json: [
                "count": .integer(Int64(dropped.count)), "under_way": .integer(Int64(dropped.underWay)),
                "running": .bool(isRunning),
            ])
    }
}

extension OperatorsOutbox.Selection {
    fileprivate static let shape = CallShape.either([
        ["app?": .text(256).said("Of this one only."), "host?": .text(512)],
        ["sequences": .list(.number(from: 1), most: 1000).said("Of these only.")],
    ])

    /// Reads which notifications are meant: those of an app, those of one host of an app, those with given numbers, or all.
    fileprivate init(_ body: CallBody) throws(CallRefusal) {
        let app = body.optionalText("app")
        let host = body.optionalText("host").map { LaneHost($0) }
        guard let numbers = body.numbers("sequences") else {
            self = .lanes(app: app, host: host)
            return
        }
        guard app == nil, host == nil, !numbers.isEmpty else {
            throw CallRefusal(.malformed, "bad_request", "give sequences, or app and host")
        }
        self = .sequences(numbers)
    }
}

/// The transfer that a call asks for, from one app to another.
private struct WantedTransfer {
    let app: String
    let other: String

    init(_ body: CallBody, in settings: Settings) throws(CallRefusal) {
        (app, other) = (try body.text("app"), try body.text("to"))
        guard app != other else {
            throw CallRefusal(.malformed, "bad_request", "app and to are the same")
        }
        guard settings.apps.contains(where: { $0.name == other }) else {
            throw CallRefusal(
                .unconfigured, "unknown_app", "there is no app \(SettingsFault.shown(other)) in the settings")
        }
    }
}

// MARK: By the store

extension NodeFiles {
    fileprivate func waiting(for app: String?, after last: Int64) throws(CallRefusal) -> HTTPResponse {
        try outbox { file, isRunning in
            let now = dateNow
            let rows = try file.page(after: last, app: app)
            return HTTPResponse(
                status: 200,
                json: [
                    "rows": .array(rows.map { $0.json(now) }),
                    "more": .bool(rows.count == OperatorsOutbox.page),
                    "running": .bool(isRunning),
                ])
        }
    }

    fileprivate func checkWaiting() throws(CallRefusal) -> HTTPResponse {
        try outbox { file, isRunning in
            let faults = try file.faults()
            var members: JSON.Object = [
                "sound": .bool(faults.isEmpty), "faults": .array(faults.map { .string($0) }),
                "running": .bool(isRunning), "advice": .null,
            ]
            let path = StateDirectory.outbox(in: stateDirectory)
            guard faults.isEmpty else {
                members["advice"] = .string(StoreAdvice.damaged(path))
                return HTTPResponse(status: 200, json: .object(members))
            }
            let summary = try file.summary()
            let now = dateNow.milliseconds
            members["waiting"] = .integer(Int64(summary.waiting))
            members["bytes"] = .integer(Int64(summary.bytes))
            members["oldest_ms"] = summary.oldest.map { .integer(max(0, now - $0)) } ?? .null
            members["apps"] = .array(try file.apps().map { json(ofApp: $0, $1) })
            members["remembered"] = .integer(Int64(summary.identities))
            members["dead_devices"] = .integer(Int64(summary.deadTokens))
            if !isRunning, let advice = try settings.store().leftOver { members["advice"] = .string(advice) }
            return HTTPResponse(status: 200, json: .object(members))
        }
    }

    /// The present as the store's dates have it.
    private var dateNow: UnixTime { EventLoop.unixTime - (running?.clockAhead ?? .zero) }

    private func json(ofApp name: String, _ waiting: Int) -> JSON {
        let known = settings.apps.first { $0.name == name }
        let trouble =
            known == nil ? "not configured" : known?.hasCredentials == false ? "no credentials" : nil
        return [
            "app": .string(name), "waiting": .integer(Int64(waiting)),
            "trouble": trouble.map { .string($0) } ?? .null,
        ]
    }

    /// Reads what waits, beside the node that runs too, and changes nothing.
    private func outbox<Value>(
        _ body: (borrowing OperatorsOutbox, _ isRunning: Bool) throws -> Value
    ) throws(CallRefusal) -> Value {
        try inStore {
            guard running == nil else { return try body(OperatorsOutbox(try store(), for: .reading), true) }
            try refuseStranger()
            return try withLock { lock in
                let isRunning = lock == nil
                return try body(
                    OperatorsOutbox(try store(), for: isRunning ? .reading : .inspecting), isRunning)
            }
        }
    }

    /// Changes the outbox in place of a node that is stopped.
    fileprivate func change(
        _ body: (borrowing OperatorsOutbox) throws -> HTTPResponse
    ) throws(CallRefusal) -> HTTPResponse {
        try inStore {
            try withLock { lock in
                guard lock != nil else {
                    throw CallRefusal(
                        .unavailable, "no_answer", "a node runs with \(stateDirectory), and does not answer")
                }
                return try body(try OperatorsOutbox(try store(), isReadOnly: false))
            }
        }
    }

    /// Runs work under the lock of the state directory.
    ///
    /// - Parameter body: gets the node's lock, which nobody else has meanwhile; `nil`: a node has it.
    private func withLock<Value>(_ body: (borrowing StateDirectory?) throws -> Value) throws -> Value {
        let lock = try StateDirectory(ofStoppedNode: stateDirectory)
        return try body(lock)
    }

    private func store() throws(NodeError) -> StorePlace {
        let store = try settings.store()
        guard let path = store.file, access(path, F_OK) != 0 else { return store }
        throw .unavailable(
            "there is no outbox in \(stateDirectory) yet: the node creates it when it starts for the first time"
        )
    }
}

extension OperatorsOutbox.Row {
    fileprivate static let shape: CallShape = [
        "sequence": .number, "app": .text, "host": .text, "sandbox": .flag, "urgent": .flag,
        "age_ms": .number, "attempts": .number,
        "next_attempt_in_ms": .number.said("0: as soon as its push service takes it."),
        "expires_in_ms": .number, "bytes": .number, "device": .text.said("A keyed digest."),
    ]

    fileprivate func json(_ now: UnixTime) -> JSON {
        [
            "sequence": .integer(sequence), "app": .string(lane.app), "host": .string("\(lane.host)"),
            "sandbox": .bool(lane.host == .sandbox), "urgent": .bool(isUrgent),
            "age_ms": .integer(max(0, (now - acceptedAt).milliseconds)),
            "attempts": .integer(Int64(attempts)),
            "next_attempt_in_ms": .integer(max(0, (notBefore - now).milliseconds)),
            "expires_in_ms": .integer(max(0, (expiresAt - now).milliseconds)), "bytes": .integer(Int64(size)),
            "device": .string(device.shortHex),
        ]
    }
}
