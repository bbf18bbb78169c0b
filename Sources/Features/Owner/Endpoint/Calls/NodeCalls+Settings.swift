import Calls
import Crypto
import Doors
import Encodings
import Glibc
import HTTP1
import JSONCoding
import Node
import Processes
import Reactor
import Relay

/// The settings: a dozen as fields, the rest as text; checked, and their difference shown, before they are taken.
extension NodeCalls {
    nonisolated static let settingsCalls: [Call] = [
        Call(
            CallText(
                "GET settings", "getSettings", "The settings: their text, and the dozen that matter.",
                answer: .json(
                    "As the file is now.",
                    [
                        "file": .text,
                        "version": .text.said("Of the text: who changes it shows the one that was read."),
                        "text": .text, "writable": .flag.said("The node may write the file."),
                        "fields": .list([
                            "key": .text, "usual": .text.said("Where nothing is set."),
                            "value": .nullable(.text), "choices": .nullable(.list(.text)),
                            "unit": .text.said("seconds or bytes; empty for a plain value."),
                            "least": .nullable(.text).said("Of a number, as most; null: it is none."),
                            "most": .nullable(.text), "folded": .flag.said("Few need it."),
                            "help": .text.said("What the setting is for, and what is allowed."),
                        ]),
                        "targets": .list([
                            "app": .text, "mine": .flag.said("It rings only phones of the phone book."),
                        ]),
                        "restart_due": .list(.text).said(
                            "Keys that were changed since the start, and are used after the next one."),
                    ])),
            by: .node { calls, _ async throws(CallRefusal) in try await calls.settings() }),
        Call(
            CallText(
                "GET settings/version", "getSettingsVersion", "The version of the settings' text.",
                answer: .json("As the file is now. Another one: somebody has changed it.", ["version": .text])
            ),
            by: .node { calls, _ async throws(CallRefusal) in try await calls.settingsVersion() }),
        Call(
            CallText(
                "POST settings/check", "checkSettings", "What a change would do.",
                asks: [
                    "text?": .text(SettingsText.sizeLimit),
                    "changes?": .texts(most: 32, longest: 1024).said(
                        "Values by their keys, as tor.mode or apps[NAME].targets; a list as [a, b]."),
                ],
                answer: .json("Its errors, or the difference.", .object(checkedMembers)), refuses: [.unfit]),
            by: .long { calls, body async throws(CallRefusal) in try await calls.checkSettings(body) }),
        Call(
            CallText(
                "PUT settings", "putSettings", "Write the settings.",
                asks: [
                    "version": .text(64), "text": .text(SettingsText.sizeLimit),
                    "start?": .flag.said("Only if the node would start with it: its program is asked."),
                ],
                answer: .json(
                    "Written.",
                    [
                        "version": .text,
                        "needs_restart": .list(.text).said("Keys that the running node does not take over."),
                    ]), refuses: [.conflict, .unfit]),
            by: .long { calls, body async throws(CallRefusal) in try await calls.putSettings(body) }),
    ]

    /// The members of what a change would do.
    nonisolated static let checkedMembers =
        ([
            "text": .text.said("With the changes."), "version": .text,
            "faults": .faults.said("The first hundred."), "fault_count": .number,
            "remarks": .list(.text).said("What is no error but worth knowing, as check-config says it."),
            "difference": .difference, "needs_restart": .list(.text),
            "console_closed": .list(.text).said("Places at which the console is now, and would be no more."),
            "console_off": .flag.said("Whether there would be no console any more."),
        ] as CallShape).members

    /// Bytes of a body that has a settings file, each byte escaped if need be.
    nonisolated static let longestSettings = 6 * SettingsText.sizeLimit + 8192
    /// The most faults in an answer; those beyond that are counted.
    private static let mostFaults = 100
    private nonisolated static let mostKeys = 50

    private func settingsVersion() async throws(CallRefusal) -> HTTPResponse {
        let file = node.host.settingsFile
        let version = try await keep { () throws(CallRefusal) in
            NodeCalls.version(of: try NodeCalls.text(of: file))
        }
        return HTTPResponse(status: 200, json: ["version": .string(version)])
    }

    private func settings() async throws(CallRefusal) -> HTTPResponse {
        let file = node.host.settingsFile
        let (text, sample, isOpen) = try await keep { () throws(CallRefusal) in
            (try NodeCalls.text(of: file), SettingsText.sample ?? "", SettingsStore.isOpen(file))
        }
        let fields = Setting.all(with: node.settings.built).filter { $0.traits.contains(.inConsole) }.map {
            field -> JSON in
            [
                "key": .string(field.key), "usual": .string(field.usual),
                "value": SettingsEdit.value(field.key, in: text).map { .string($0) } ?? .null,
                "choices": field.kind.choices.map { .array($0.map { .string($0) }) } ?? .null,
                "unit": .string(field.kind.unit), "help": .string(field.help(in: sample)),
                "least": field.kind.bounds.map { .string($0.least) } ?? .null,
                "most": field.kind.bounds.map { .string($0.most) } ?? .null,
                "folded": .bool(field.traits.contains(.foldedInConsole)),
            ]
        }
        let targets = node.settings.apps.map { app -> JSON in
            ["app": .string(app.name), "mine": .bool(app.targets == .phoneBook)]
        }
        return HTTPResponse(
            status: 200,
            json: [
                "file": .string(file), "version": .string(NodeCalls.version(of: text)), "text": .string(text),
                "writable": .bool(isOpen), "fields": .array(fields), "targets": .array(targets),
                "restart_due": .array(
                    node.settingsNews.restartDue.prefix(NodeCalls.mostKeys).map { .string($0) }),
            ])
    }

    nonisolated static func text(of file: String) throws(CallRefusal) -> String {
        do throws(SettingsFault) {
            return try SettingsText.read(file)
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(file): \(error)")
        }
    }

    /// Returns the version by which somebody notices that somebody else has changed the settings meanwhile.
    private nonisolated static func version(of text: String) -> String {
        Hex.encode(Array(Hash.sha256(Array(text.utf8)).prefix(16)))
    }

    // MARK: Checking

    private func checkSettings(_ asked: LongBody) async throws(CallRefusal) -> HTTPResponse {
        let (file, features) = (node.host.settingsFile, node.settings.built)
        let (present, text) = try await keep { () throws(CallRefusal) in
            let body = try asked.read()
            let present = try NodeCalls.text(of: file)
            var text = body.optionalText("text") ?? present
            let all = Setting.all(with: features)
            for (key, value) in body.texts(of: "changes") {
                let isList = all.contains { $0.kind == .list && $0.key.hasSameBytes(as: key) }
                do throws(SettingsEdit.Refusal) {
                    text = try SettingsEdit.set(key, to: value, mayBeList: isList, in: text)
                } catch {
                    throw NodeCalls.uneditable(SettingsFault.shown(key))
                }
            }
            return (present, text)
        }
        return HTTPResponse(status: 200, json: .object(try await checked(text, besides: present, file)))
    }

    nonisolated static func uneditable(_ key: String) -> CallRefusal {
        CallRefusal(
            .unfit, "edit_text", "\(key) stands in the file in a way that only the text can change")
    }

    /// Returns what it would do to put a text in the place of the present one, as ``checkedMembers``.
    func checked(
        _ text: String, besides present: String, _ file: String
    ) async throws(CallRefusal) -> JSON.Object {
        let checked = try await check(text, file)
        let difference = try await keep { () throws(CallRefusal) in TextDiff.lines(from: present, to: text) }
        let shown = checked.faults.prefix(Self.mostFaults).map(\.json)
        return [
            "text": .string(text), "version": .string(NodeCalls.version(of: present)),
            "faults": .array(Array(shown)), "fault_count": .integer(Int64(checked.faults.count)),
            "remarks": .array(checked.remarks.prefix(Self.mostFaults).map { .string($0) }),
            "difference": .array(difference.map(\.json)), "needs_restart": checked.json,
            "console_closed": .array(checked.closedPlaces.map { .string($0) }),
            "console_off": .bool(checked.isConsoleOff),
        ]
    }

    /// The faults that check-config finds, and the keys that need a restart.
    private struct Checked: Sendable {
        var faults: [SettingsFault] = []
        var remarks: [String] = []
        var restartKeys: [String] = []
        /// The places at which the console is now, and would be no more.
        var closedPlaces: [String] = []
        var isConsoleOff = false

        var json: JSON { .array(restartKeys.prefix(NodeCalls.mostKeys).map { .string($0) }) }
    }

    private func check(_ text: String, _ file: String) async throws(CallRefusal) -> Checked {
        let features = node.settings.built
        let result = try await keep { () throws(CallRefusal) in
            Result { () throws(SettingsError) in
                let settings = try Settings(
                    yaml: text, file: file, directory: absoluteDirectory(of: file), environment: environment,
                    features: features)
                let present = try? Settings(file: file, environment: environment, features: features)
                return (settings, SettingsCheck.Disk(of: settings), present)
            }
        }
        switch result {
        case .failure(let error): return Checked(faults: error.faults)
        case .success(let (settings, disk, present)):
            let check = SettingsCheck(of: settings, on: disk)
            return Checked(
                faults: check.faults + settings.moveFaults(from: node.settings)
                    + settings.programFaults(beside: [node.settings, present].compactMap(\.self)),
                remarks: check.remarks, restartKeys: node.keysThatNeedRestart(for: settings),
                closedPlaces: node.settings.console.places.filter { !settings.console.places.contains($0) },
                isConsoleOff: !settings.console.isOn)
        }
    }

    // MARK: Taking over

    private func putSettings(_ asked: LongBody) async throws(CallRefusal) -> HTTPResponse {
        let (file, stateDirectory) = (node.host.settingsFile, node.settings.stateDirectory)
        let (text, version, mustStart) = try await keep { () throws(CallRefusal) in
            let body = try asked.read()
            return (try body.text("text"), try body.text("version"), body.flag("start"))
        }
        let checked = try await check(text, file)
        guard checked.faults.isEmpty else {
            let count = checked.faults.count
            throw CallRefusal(
                .unfit, "bad_settings",
                "\(count == 1 ? "one error" : "\(count) errors"), the first: \(checked.faults[0])")
        }
        if mustStart { try await tryStart(with: text, file) }
        // One job: nobody comes between the look and the writing.
        try await keep { () throws(CallRefusal) in
            guard SettingsStore.isOpen(file) else {
                throw CallRefusal(
                    .unconfigured, "settings_closed",
                    "the node may not write \(file): put the text there as root, then restart the node")
            }
            guard try NodeCalls.version(of: NodeCalls.text(of: file)) == version else {
                throw CallRefusal(
                    .conflict, "changed_meanwhile", "somebody else has changed the settings meanwhile")
            }
            do throws(SystemError) {
                try KeptSettings.willWrite(text, in: stateDirectory)
                try SettingsStore.write(text, to: file)
            } catch {
                throw CallRefusal(.unavailable, "unreadable", "\(error)")
            }
        }
        log.notice("settings.written")
        await node.rereadSettings()
        return HTTPResponse(
            status: 200,
            json: [
                "version": .string(NodeCalls.version(of: text)), "needs_restart": checked.json,
            ])
    }

    /// Refuses a text with which the node would not start. It is tried from a file beside the settings, which has their
    /// relative names, and is gone afterwards.
    private func tryStart(with text: String, _ file: String) async throws(CallRefusal) {
        let trial = "\(SettingsStore.real(file)).\(NodeCalls.version(of: text))"
        try await keep { () throws(CallRefusal) in
            guard SettingsStore.isOpen(file) else { return }
            do throws(SystemError) {
                try SettingsStore.write(text, to: trial)
            } catch {
                throw CallRefusal(.unavailable, "unreadable", "\(error)")
            }
        }
        let fault = await StartCheck.fault(of: trial)
        await NodeCalls.remove(trial)
        if let fault {
            throw CallRefusal(
                .unfit, "start_refused", "nothing is changed, since the node would not start: \(fault)")
        }
    }

    @FileThread
    private static func remove(_ path: String) { unlink(path) }
}

extension Settings {
    /// Returns a fault if the settings name another state directory than those before: a node there is another node, and
    /// the console would be that one's.
    func moveFaults(from before: Settings) -> [SettingsFault] {
        guard !stateDirectory.hasSameBytes(as: before.stateDirectory) else { return [] }
        return [
            SettingsFault(
                key: "state_directory",
                problem: "must stay \(before.stateDirectory): elsewhere the node is another one")
        ]
    }
}

extension RelayNode {

    /// Returns the keys of these settings that the running node does not take over.
    func keysThatNeedRestart(for settings: Settings) -> [String] {
        // An app that had no credentials at the start has no gateway that could take over any.
        let closed = settings.apps.indices.filter { index in
            !gateways.contains { $0.app == settings.apps[index].name }
        }
        let live = self.settings.liveKeys.union(settings.liveKeys).filter { key in
            !closed.contains { key.hasPrefix("apps[\($0)].") }
        }
        return settings.keys(changedFrom: self.settings).filter { !live.contains($0) }
    }
}
