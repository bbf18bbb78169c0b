import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// Commands at a node that runs, and in place of one that is stopped: the same words over the same rows are answered alike, but
/// for what ``said(_:)`` takes out.
@EventLoop
@Suite(.serialized) struct StoppedAsRunningTests {
    /// Two nodes with the same files: one runs, the other one never does.
    @EventLoop
    private final class Pair {
        let running: LoopbackStage
        let stopped: LoopbackStage

        private static let old = "bisq-remote-ios"
        private static func change(_ text: String) -> String {
            text.replacing("apps:\n", with: "apps:\n  - {name: box, gateway: mailbox}\n")
                + "doors: {mailbox: {listen: [\"onion:80\"]}}\n"
        }

        /// Seven notifications are put off for an hour: two for one phone, two for the sandbox, three for other phones. Then
        /// the app of the phones is renamed.
        init() async throws {
            running = try LoopbackStage(change: Self.change)
            stopped = try LoopbackStage(change: Self.change)
            running.world.apple.faults = FaultScript([
                FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "3600"))
            ])
            try await running.start()
            let peer = try await running.dial()
            for message in Self.messages { #expect(try await peer.send(message).status == .stored) }
            // Behind another one nothing is tried.
            let tried = Set(Self.messages.map(\.deviceToken)).count
            try await until {
                let list = try await onionbell(["outbox", "list", "--json"], running)
                let rows = try JSON(Array(list.output.utf8)).array ?? []
                return rows.count == Self.messages.count
                    && rows.count { $0["attempts"]?.integer == 1 } == tried
            }
            peer.close()
            for words in [
                [
                    "phones", "add", "alice", "--pairing-token",
                    try Phone.new(.android, descriptor: "A").pairingToken.text,
                ],
                [
                    "phones", "add", "dora", "--pairing-token",
                    try Phone.new(.android, descriptor: "D").pairingToken.text,
                ],
                ["mailbox", "add", "me"], ["mailbox", "publishers", "add", "me", "cron"],
                ["invite", "carol"],
                ["installation", "add", "--id", StoppedAsRunningTests.installation],
                ["console", "invite", "laptop"],
            ] {
                let done = try await onionbell(words, running)
                #expect(done.status == 0, "\(words): \(done.errors)")
            }
            await running.node.stop()
            for stage in [running, stopped] {
                let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
                try text.replacing(Self.old, with: "phones").write(
                    toFile: stage.configuration, atomically: true, encoding: .utf8)
            }
            try FileManager.default.createDirectory(
                atPath: stopped.world.state, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let (from, to) = (running.world.state, stopped.world.state)
            for file in try FileManager.default.contentsOfDirectory(atPath: from)
            where !["lock", "status", "sockets", "tor"].contains(file) {
                try FileManager.default.copyItem(atPath: "\(from)/\(file)", toPath: "\(to)/\(file)")
            }
            try await running.start()
        }

        /// The first two are for one phone, the fourth and fifth for the sandbox.
        private static var messages: [MobileNotificationRequest] {
            var behind = request(2)
            behind.deviceToken = request(1).deviceToken
            let sandbox = [4, 5].map { request($0, platform: .iosDev) }
            return [request(1), behind, request(3)] + sandbox + [request(6), request(7)]
        }

        func onionbell(_ words: [String], _ stage: LoopbackStage) async throws -> CommandResult {
            let arguments = [program] + words + ["--config", stage.configuration]
            return try await Task.detached { try run(arguments) }.value
        }

        /// Returns what both answer. A running node may say "not now", for a moment.
        func ask(_ words: [String]) async throws -> (running: CommandResult, stopped: CommandResult) {
            let asStopped = try await onionbell(words, stopped)
            var asRunning = try await onionbell(words, running)
            while asRunning.status == 75 { asRunning = try await onionbell(words, running) }
            return (asRunning, asStopped)
        }

        func close() async {
            await running.close()
            await stopped.close()
        }
    }

    private static let installation = "8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11"

    /// What both said, without what is stated to differ (whether a node runs, and when it will send), and without what chance
    /// and time make another one each time.
    private func said(_ text: String, _ stage: LoopbackStage) -> String {
        text.replacing(stage.world.directory.path, with: "<place>")
            .replacing(#/"running":(true|false)/#, with: #""running":0"#)
            .replacing(" (the node runs)", with: "")
            .replacing(#/the node sends them (now|when it starts)/#, with: "the node sends them")
            .replacing(#/due: goes [^\n]*/#, with: "due")
            .replacing(#/\. What is missing may wait on disk [^\n]*/#, with: "")
            .replacing(#/"(age_ms|oldest_ms|expires_in_ms|next_attempt_in_ms)":[1-9][0-9]*/#) {
                "\"\($0.1)\":1"
            }
            .replacing(#/\b[0-9]+ (s|min|h|d)\b/#, with: "<age>")
            .replacing(#/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/#, with: "<time>")
            .replacing(#/[A-Za-z0-9+\/_=:|-]{20,}/#, with: "<random>")
            .replacing(#/ +/#, with: " ")
    }

    /// Waits until the running node has written down what it was told: so many wait for the app.
    private func wait(until count: Int, waitFor app: String, _ pair: Pair) async throws {
        try await until {
            let list = try await pair.onionbell(["outbox", "list", "--json", "--app", app], pair.running)
            return try JSON(Array(list.output.utf8)).array?.count == count
        }
    }

    private func compare(_ script: [(words: String, status: Int32)], _ pair: Pair) async throws {
        for (words, status) in script {
            let (running, stopped) = try await pair.ask(words.split(separator: " ").map(String.init))
            #expect(running.status == status, "\(words): \(running)")
            #expect(stopped.status == running.status, "\(words): \(stopped)")
            #expect(
                said(stopped.output, pair.stopped) == said(running.output, pair.running),
                "\(words): stopped and running")
            #expect(
                said(stopped.errors, pair.stopped) == said(running.errors, pair.running),
                "\(words): stopped and running")
        }
    }

    @Test func lookingAndChangingIsAnsweredAlike() async throws {
        let pair = try await Pair()
        let phone = try Phone.new(.android, descriptor: "B").pairingToken.text
        try await compare(
            [
                ("phones list", 0), ("phones list --json", 0), ("phones show alice --json", 0),
                ("phones show nobody", 1), ("peers --json", 0), ("registrations list", 0),
                ("registrations list --json", 0), ("registrations list nothing", 1),
                ("registrations show phone 1", 0), ("registrations show phone 99", 1),
                ("registrations show mailbox me", 0), ("installation list", 0), ("mailbox list", 0),
                ("mailbox publishers list me", 0), ("mailbox publishers list other", 1), ("point bisq2", 0),
                ("key show --json", 0), ("key show --vapid", 69),
                ("phones add bob --pairing-token \(phone)", 0),
                ("phones add bob --pairing-token \(phone)", 1),
                ("phones add carl --pairing-token x", 65), ("phones rename bob alice", 1),
                ("phones rename bob carl", 0), ("phones rename bob carl", 1), ("phones alias carl", 0),
                ("phones alias carl --new", 0), ("phones alias carl --remove", 0),
                ("phones alias carl --remove", 1), ("phones alias nobody", 1),
                ("phones remove carl --phone 9", 1),
                ("phones remove carl", 0), ("phones remove carl", 1), ("phones list", 0),
                ("mailbox add two --reader anna --json", 0), ("mailbox add two", 1), ("mailbox add a/b", 64),
                ("mailbox publishers add two job", 0), ("mailbox publishers add two job", 1),
                ("mailbox publishers remove two job", 0), ("mailbox publishers remove two job", 1),
                ("mailbox remove two", 0), ("mailbox remove two", 1), ("mailbox list", 0),
                ("registrations remove mailbox me", 0), ("registrations remove mailbox me", 1),
                ("registrations remove nothing me", 1), ("invite dave", 0), ("invite dave", 1),
                ("invite a/b", 65), ("revoke nobody", 1), ("revoke carol", 0), ("revoke carol", 1),
                ("peers", 0), ("peers --let-everybody-in", 0), ("peers --json", 0),
                ("console invite laptop", 1), ("console invite phone", 0), ("console revoke phone", 0),
                ("console revoke phone", 1), ("console revoke --let-everybody-in", 0),
                ("installation add --id \(Self.installation) --json", 0),
                ("installation disable \(Self.installation)", 0), ("installation list --json", 0),
                ("installation disable none", 1), ("installation remove \(Self.installation)", 0),
                ("installation remove \(Self.installation)", 1), ("installation list", 0),
            ], pair)
        await pair.close()
    }

    /// The app of the phones has another name by now: a running node sends nothing of it by itself.
    @Test func whatWaitsIsListedRetriedDroppedAndMovedAlike() async throws {
        let pair = try await Pair()
        let old = "bisq-remote-ios"
        try await compare(
            [
                ("outbox list", 0), ("outbox list --json", 0), ("outbox list --app \(old) --json", 0),
                ("outbox list --app nobody", 0), ("outbox check", 0), ("outbox check --json", 0),
                // The second waits behind the first.
                ("outbox retry 2", 0), ("outbox retry --host production --app \(old)", 0),
                ("outbox retry --sandbox", 0), ("outbox retry --app \(old)", 0),
                ("outbox retry --app nobody", 0), ("outbox retry", 64),
                ("outbox drop 3 99", 1), ("outbox drop 3", 1), ("outbox drop 99", 1),
                ("outbox drop --all", 64),
                ("outbox drop --app nobody --yes", 0), ("outbox drop 6", 0),
                ("outbox drop --app \(old) --sandbox --yes", 0),
            ], pair)
        try await wait(until: 3, waitFor: old, pair)
        try await compare(
            [
                ("outbox check --json", 0), ("outbox move --app \(old) --to nobody", 78),
                ("outbox move --app \(old) --to \(old)", 64), ("outbox move --app nobody --to phones", 0),
                ("outbox move --app \(old) --to phones", 0), ("outbox move --app \(old) --to phones", 0),
            ], pair)
        try await wait(until: 3, waitFor: "phones", pair)
        try await compare([("outbox check --json", 0)], pair)
        await pair.close()
    }

    /// What only a node that runs can do says so, and does nothing.
    @Test func whatNeedsARunningNodeSaysSoWithOneStatus() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        await stage.node.stop()
        for words in [
            "status", "status --json", "console link", "console widget", "console widget x",
            "backup \(stage.world.directory.path)/copy",
        ] {
            let arguments = [program] + words.split(separator: " ").map(String.init)
            let told = try run(arguments + ["--config", stage.configuration])
            #expect(told.status == 69 && told.errors.contains("no node"), "\(words): \(told)")
        }
        #expect(try run([program, "status", "--check", "--config", stage.configuration]).status == 1)
        await stage.close()
    }

    /// Another user is told whose files they are, by the same status, whatever the command.
    @Test(.enabled(if: geteuid() == 0, "only root can run it as another user"))
    func anotherUserIsToldSoByOneStatus() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        await stage.node.stop()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: stage.world.directory.path)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: stage.configuration)
        for words in [
            "outbox list", "outbox check", "outbox retry --all", "outbox drop 1", "phones list",
            "mailbox list",
            "registrations list", "phones remove alice", "revoke carol",
        ] {
            let arguments =
                ["setpriv", "--reuid=65534", "--clear-groups", program]
                + words.split(separator: " ").map(String.init)
            let told = try run(arguments + ["--config", stage.configuration])
            #expect(told.status == 77, "\(words): \(told)")
        }
        await stage.close()
    }
}
