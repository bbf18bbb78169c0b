import Calls
import Crypto
import Doors
import Encodings
import HTTP1
import JSONCoding
import Node
import Persistence
import Reactor
import Relay

/// The calls for an owner's backup, for moving in from a backup, and for the restart that this takes.
extension NodeCalls {
    nonisolated static let keepCalls: [Call] = [
        Call(
            CallText(
                "GET backup", "getBackup",
                "When the last copy was made, and the last move that was undone.",
                answer: .json(
                    "Seconds since 1970; null: none yet.",
                    [
                        "made": .nullable(.number),
                        "undone": .nullable(UndoneMove.shape).said(
                            "A move whose start failed, so that the node is what it was before."),
                    ])),
            by: .node { calls, _ in
                let directory = calls.node.settings.stateDirectory
                let (last, undone) = (await BackupTime.read(directory), await UndoneMove.read(in: directory))
                return HTTPResponse(
                    status: 200,
                    json: ["made": last.map { .integer($0) } ?? .null, "undone": undone?.json ?? .null])
            }),
        Call(
            CallText(
                "POST backup", "makeBackup",
                "Make a copy of settings, keys, phone book, mailboxes and credentials, sealed under a passphrase.",
                more: "What waits is not in it. The passphrase has 12 to 1024 bytes.",
                asks: ["passphrase": .text(8192)], answer: .file("The file."), refuses: [.conflict, .unfit]),
            by: .node { calls, asked async throws(CallRefusal) in try await calls.backUp(asked.body) }),
        Call(
            CallText(
                "POST restore", "restore",
                "Move in from a copy: at its next start this node is the other one.",
                more:
                    "Refused while the old node is known in the Tor network, unless old_node_stopped is true; and where this node has phones or other registrations of its own, unless the copy is its own.",
                asks: [
                    "passphrase": .text(8192), "file": .text(longestBody).said("Base64."),
                    "look?": .flag.said("Change nothing."), "old_node_stopped?": .flag,
                    "keep_settings?": .flag,
                ], answer: .json("What it does here, or would do.", MovePlan.shape),
                refuses: [.conflict, .unfit]),
            by: .long { calls, body async throws(CallRefusal) in try await calls.restore(body) }),
        Call(
            CallText(
                "POST restart", "restartNode",
                "Restart the node in place, if its program says that it would start.",
                answer: .json(202, "It restarts after this answer.", [:]), refuses: [.conflict]),
            by: .node { calls, _ async throws(CallRefusal) in try await calls.restart() }),
    ]

    /// Bytes of a body that has a backup in Base64.
    nonisolated static let longestBody = (NodeBackup.longestFile + 2) / 3 * 4 + 8192

    private func backUp(_ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        let passphrase = Secret(Array(try body.text("passphrase").utf8))
        guard NodeBackup.passphraseLengths.contains(passphrase.bytes.count) else {
            throw CallRefusal(
                .unfit, "backup_passphrase",
                "the passphrase must have \(NodeBackup.passphraseLengths.lowerBound) to \(NodeBackup.passphraseLengths.upperBound) bytes"
            )
        }
        let (settings, file, now) = (node.settings, node.host.settingsFile, EventLoop.unixMilliseconds)
        let sealed = try await keep { () throws(CallRefusal) in
            let backup = try NodeBackup.read(settings, from: file, at: now)
            do throws(NodeBackup.Fault) {
                return try backup.sealed(under: passphrase)
            } catch {
                throw error.refusal
            }
        }
        await BackupTime.write(now / 1000, settings.stateDirectory)
        log.notice("backup.made")
        var response = HTTPResponse(status: 200, body: sealed)
        response.fields.append("content-type", "application/octet-stream")
        return response
    }

    // MARK: Moving in

    private func restore(_ asked: LongBody) async throws(CallRefusal) -> HTTPResponse {
        let kinds = node.settings.built.tables
        let (wanted, backup) = try await keep { () throws(CallRefusal) in
            let wanted = try WantedMove(asked.read())
            do throws(NodeBackup.Fault) {
                return (wanted, try NodeBackup(sealed: wanted.file, passphrase: wanted.passphrase, of: kinds))
            } catch {
                throw error.refusal
            }
        }
        let own = try await refuseAnother(backup)
        var plan = try await plan(backup, keepsSettings: wanted.keepsSettings)
        if let next = plan.next {
            plan.faults += GatewayAssembly.faults(
                in: next.settings, except: next.settings.closedCredentials, reading: next.contents.read,
                ends: false)
        }
        if !wanted.isLook {
            if let fault = plan.faults.first {
                throw CallRefusal(.unfit, "unfit_backup", "the node would not start with it: \(fault)")
            }
            if backup.address != own, !wanted.hasOldStopped { try await refuseRival(backup.address) }
            let directory = node.settings.stateDirectory
            let staged = plan.backup
            try await keep { () throws(CallRefusal) in
                do throws(SystemError) {
                    try MovingIn.stage(staged, in: directory)
                } catch {
                    throw CallRefusal(.unavailable, "unreadable", "\(error)")
                }
            }
            plan.isStaged = true
            log.notice("restore.staged")
        }
        return HTTPResponse(status: 200, json: plan.json)
    }

    /// Refuses the backup of another node: only a node that has nothing of its own yet, or the same node,
    /// moves in.
    ///
    /// - Returns: This node's address.
    private func refuseAnother(_ backup: NodeBackup) async throws(CallRefusal) -> String {
        guard node.settings.isStoreFile else {
            throw CallRefusal(
                .unconfigured, "has_database",
                "this node keeps its phones in a database (storage.url), which has a backup of its own")
        }
        let own = node.presence.address?.description ?? ""
        let directory = node.settings.stateDirectory
        let isFresh = try await registrations { file in
            try file.backupTables().allSatisfy { $0.rows.isEmpty }
        }
        guard !isFresh else { return own }
        let isSame = try await keep { () throws(CallRefusal) in
            let key = try? PrivateFile.read("\(directory)/digest-key", limit: 16_384)
            return key.map { Secret($0) } == backup.keys[ByteText("digest-key")]
        }
        guard isSame, backup.address == own else {
            throw CallRefusal(
                .conflict, "another_node",
                "the backup is another node's, and this one has phones or other registrations: move in where there are none"
            )
        }
        return own
    }

    private func refuseRival(_ address: String) async throws(CallRefusal) {
        switch await OldNode.look(for: address, by: node.presence.socks) {
        case .absent: return
        case .published:
            throw CallRefusal(
                .conflict, "old_node_published",
                "the old node is still known in the Tor network: it runs, or ran within the last three hours. Stop it, and say that it has stopped"
            )
        case .unknown(let reason):
            throw CallRefusal(
                .conflict, "old_node_unknown",
                "whether the old node still runs can't be found out (\(reason)): stop it, and say that it has stopped"
            )
        }
    }

    private func plan(
        _ backup: NodeBackup, keepsSettings: Bool
    ) async throws(CallRefusal) -> MovePlan {
        let (file, running) = (node.host.settingsFile, node.settings)
        return try await keep { () throws(CallRefusal) in
            try MovePlan(backup, settingsFile: file, running: running, keepsSettings: keepsSettings)
        }
    }

    // MARK: Restarting

    /// Restarts the node in place, after the answer, if its successor says that it can start.
    private func restart() async throws(CallRefusal) -> HTTPResponse {
        if let fault = await node.restartInPlace() {
            throw CallRefusal(.conflict, "start_refused", fault)
        }
        return HTTPResponse(status: 202, json: [:])
    }

    /// Runs long work on backups and settings off the loop, one after the other.
    func keep<Value: Sendable>(
        _ body: @escaping @Sendable () throws(CallRefusal) -> Value
    ) async throws(CallRefusal) -> Value {
        // Each may hold some megabytes.
        guard keeping < Self.mostKeeping else {
            throw CallRefusal(
                .early, "busy", "another copy is being made or read: try again in a moment")
        }
        keeping += 1
        defer { keeping -= 1 }
        return try await longJobs.run { Result { () throws(CallRefusal) in try body() } }.get()
    }

    private static let mostKeeping = 2
}

/// The request of a move.
private struct WantedMove: Sendable {
    let file: [UInt8]
    let passphrase: Secret
    /// Whether nothing is changed, and the answer says what would be.
    let isLook: Bool
    let hasOldStopped: Bool
    let keepsSettings: Bool

    init(_ body: CallBody) throws(CallRefusal) {
        passphrase = Secret(Array(try body.text("passphrase").utf8))
        guard let file = Base64.decode(try body.text("file")) else {
            throw CallRefusal(.malformed, "bad_request", "file must be Base64")
        }
        self.file = file
        isLook = body.flag("look")
        hasOldStopped = body.flag("old_node_stopped")
        keepsSettings = body.flag("keep_settings")
    }
}

/// The time at which the last copy was made: the file `backup-made` of the state directory, with seconds
/// since 1970.
private enum BackupTime {
    @FileThread
    static func read(_ directory: String) -> Int64? {
        guard let bytes = try? PrivateFile.read(directory + "/backup-made", limit: 32) else { return nil }
        return Int64(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    @FileThread
    static func write(_ time: Int64, _ directory: String) {
        // Without it the page says that there was none, which leads to one more.
        try? PrivateFile.write("\(time)\n", to: directory + "/backup-made", replacing: true)
    }
}
