import Client
import Crypto
import HTTP1
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Wire

/// A node that restarts in place on a private Tor network, with senders that do not wait for it.
@EventLoop
final class RestartsRun {
    private let mode: RestartsTor.Mode
    private let world: LabWorld
    private let place: RestartPlace
    private let tor: RestartsTor
    private let clientsTor: LabTor
    private var node: LabNode
    private let address: String
    private let senders: RestartSenders
    private let reader: MailboxReaderLine
    private let longest: Duration
    private var random: SplitMix
    private(set) var violations: [String] = []
    private(set) var report: [String] = []

    /// Times in which the node took nothing, by its log.
    private var gaps: [ClosedRange<ContinuousClock.Instant>] = []
    private var gapBegan: ContinuousClock.Instant?
    /// The node's log, with the time at which each line came.
    private var told: [(at: ContinuousClock.Instant, line: String)] = []
    /// Times in which the node was gone, since it is a service manager's to start it again.
    private var ends: [ClosedRange<ContinuousClock.Instant>] = []
    private var unserved: [Int64] = []
    private var waited = 0
    private var otherIntroductions = 0

    private var bin: String { world.directory.path + "/bin" }

    init(
        _ mode: RestartsTor.Mode, _ network: PrivateTorNetwork, torrc: String, seed: UInt64,
        longest: Duration
    ) async throws {
        (self.mode, self.longest) = (mode, longest)
        random = SplitMix(seed: seed)
        world = try LabWorld()
        let path = world.directory.path
        for name in ["state", "bin", "sockets"] { _ = try world.directory.make(name) }
        tor = try await RestartsTor(mode, network, torrc: torrc, in: world.directory)
        let configuration = try world.configure(
            tor: tor.settings,
            more: [
                "doors: {mailbox: {listen: [\"onion:8030\"]}}",
                mode == .own ? "" : "onion: {socket_directory: \(path)/sockets}",
            ])
        let text = String(decoding: try LabDirectory.read(configuration), as: UTF8.self)
            .replacing("apps:\n", with: "apps:\n  - {name: mailboxes, gateway: mailbox}\n")
        try LabDirectory.write(Array(text.utf8), to: configuration)
        // Programs of its own: they are spoilt, and a build beside it changes nothing.
        _ = try await Tool(["cp", Chaos.node, Chaos.program, path + "/bin"]).finish()
        place = try RestartPlace(world.directory, configuration: configuration)
        node = try LabNode(path + "/bin/onionbelld", configuration: configuration)
        address = try await RestartsRun.address(of: node)
        try await tor.watch(address)
        let port = try freePort()
        clientsTor = try await network.startTor(["SocksPort 127.0.0.1:\(port)"])
        let socks = Endpoint.host("127.0.0.1", port: port)
        let made = try await Tool([
            path + "/bin/onionbell", "mailbox", "add", "me", "--json", "--show", "sealed", "--reader",
            "phone",
            "--config", configuration,
        ]).finish().joined()
        guard let pairing = try JSON(Array(made.utf8))["pairingToken"]?.string else {
            throw ChaosError("no mailbox: \(made)")
        }
        try LabDirectory.write(Array(made.utf8), to: path + "/mailbox")
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("mailbox.changed") } }
        senders = RestartSenders(socks: socks, address: address, mailbox: try PairingToken(pairing))
        reader = try .own(mailbox: path + "/mailbox", file: path + "/phone", socks: socks)
        watch()
        try await look()
        senders.start()
        try await served(after: .now, "before the first restart")
    }

    private static func address(of node: LabNode) async throws -> String {
        guard let line = await node.publishedLine() else {
            throw ChaosError(node.lines.suffix(5).joined(separator: "\n"))
        }
        return String(line.split(separator: " ")[1])
    }

    private func look() async throws {
        guard node.exit == nil else { throw ChaosError("the node has ended") }
        try await place.look()
    }

    /// Notes from the node's log when it takes nothing.
    private func watch() {
        var seen = node.lines.count
        node.onLine = { [unowned self] in
            while seen < node.lines.count {
                let line = node.lines[seen]
                seen += 1
                told.append((.now, line))
                if line.contains(" node.restarting") { gapBegan = .now }
                if line.contains(" node.started"), let began = gapBegan {
                    gaps.append(began...ContinuousClock.now)
                    gapBegan = nil
                }
            }
        }
    }

    // MARK: Restarts

    func restart(_ count: Int) async throws {
        guard let process = node.processID, let before = torProcess() else {
            throw ChaosError("the node has no process, or no tor")
        }
        for number in 1...max(1, count) where number <= count {
            await pause(.milliseconds(Int.random(in: 0...2000, using: &random)))
            let service = try? await tor.service()
            let result = try await command()
            if result.status != 0 { violations.append("restart \(number): \(result.words)") }
            try await note()
            if let service, let now = try? await tor.service() {
                if now.introductionCircuits != service.introductionCircuits { otherIntroductions += 1 }
            }
            guard node.exit == nil, node.processID == process, torProcess() == before else {
                violations.append("restart \(number): the node or its tor is another process")
                break
            }
            if number.isMultiple(of: 10) { say("  \(number) restarts, \(senders.sends.count) sends") }
        }
        try await served(after: .now, "after the last restart")
        tell(count)
    }

    private func command() async throws -> (status: Int32, words: String) {
        let program = try LabProgram([bin + "/onionbell", "restart", "--config", place.commands])
        await program.wait { $0.exit != nil }
        let words = program.lines.joined(separator: " / ")
        if case .exited(let status)? = program.exit { return (status, words) }
        return (-1, words)
    }

    /// Adds what the node says of its last restart.
    private func note() async throws {
        guard let restart = try await state()["restart"], let waited = restart["waited"]?.integer else {
            return violations.append("the node knows of no restart in place")
        }
        self.waited += Int(waited)
        let time: Int64? =
            switch restart["unserved"] {
            case .integer(let value): value * 1_000_000_000
            case .number(let value): Int64(value * 1e9)
            case _: nil
            }
        unserved += [time].compactMap(\.self)
    }

    private func state() async throws -> JSON {
        do {
            let answer = try await HTTPExchange.answer(
                to: HTTPRequest(method: "GET", path: "/status.json"), host: "localhost",
                by: .direct(.unix(path: world.directory.path + "/management")), deadline: .seconds(30))
            return try JSON(answer.body)
        } catch {
            throw ChaosError("\(error)\n\(node.lines.suffix(20).joined(separator: "\n"))")
        }
    }

    private func torProcess() -> Int32? {
        guard mode == .own else { return 0 }
        return node.processID.flatMap { ChildProcesses.named("tor", of: $0).first }
    }

    @discardableResult
    private func served(
        after moment: ContinuousClock.Instant, _ when: String
    ) async throws -> ContinuousClock.Instant {
        guard let found = await senders.served(after: moment, within: .seconds(180)) else {
            var lines = Array(node.lines.suffix(5))
            for send in senders.sends.suffix(3) { lines.append("\(send.uid): \(send.fault ?? "no answer")") }
            lines += ["the senders' tor said:"] + clientsTor.lastLines.suffix(12)
            throw ChaosError("nobody is served \(when): \(lines.joined(separator: "\n"))")
        }
        return found
    }

    private func tell(_ count: Int) {
        let sends = senders.sends.filter { $0.ended != nil }
        let met = times(of: sends.filter { send in gaps.contains { overlaps(send, $0) } })
        let others = times(of: sends.filter { send in !gaps.contains { overlaps(send, $0) } })
        let failed = sends.filter { $0.fault != nil }
        for send in failed { violations.append("\(send.uid) failed: \(send.fault ?? "")") }
        for send in sends where longest > .zero && send.wait > longest {
            violations.append("\(send.uid) took \(send.wait)")
            report += log(around: send)
        }
        let (metTimes, otherTimes) = (Table.medianAndLongest(met), Table.medianAndLongest(others))
        let unservedTimes = Table.medianAndLongest(unserved)
        report += Table.lines([
            ["tor.mode", mode.rawValue], ["restarts in place", "\(count)"],
            ["sends, failed", "\(sends.count), \(failed.count)"],
            ["sends that met a restart", "\(met.count)"],
            ["their median, longest", "\(metTimes[0]), \(metTimes[1])"],
            ["of others", "\(otherTimes[0]), \(otherTimes[1])"],
            ["nothing taken for, median, longest", "\(unservedTimes[0]), \(unservedTimes[1])"],
            ["connections that waited", "\(waited)"],
            ["restarts over which introduction circuits changed", "\(otherIntroductions)"],
            ["descriptors sent, during restarts", "\(tor.uploads.count), \(tor.uploads(during: gaps))"],
            [
                "asked by the peer that stays, its connections",
                "\(senders.asked.count), \(senders.reconnects)",
            ],
        ])
    }

    /// What the node said while a send waited, with the seconds since the send began.
    private func log(around send: RestartSenders.Send) -> [String] {
        let times = (send.began - .seconds(2))...(send.began + send.wait + .seconds(1))
        return told.filter { times.contains($0.at) }.map { told in
            "  \(Int64((told.at - send.began) / .nanoseconds(1)).seconds) s: \(told.line)"
        }
    }

    private func overlaps(
        _ send: RestartSenders.Send, _ gap: ClosedRange<ContinuousClock.Instant>
    ) -> Bool {
        send.began <= gap.upperBound && (send.ended ?? .now) >= gap.lowerBound
    }

    private func times(of sends: [RestartSenders.Send]) -> [Int64] {
        sends.compactMap { send in send.ended.map { Int64(($0 - send.began) / .nanoseconds(1)) } }
    }

    // MARK: Successors that fail

    func fail(_ words: String) async throws {
        let kinds = RestartKind.all.filter { kind in
            kind.modes.contains(mode) && words != "none" && (words.isEmpty || kind.name.contains(words))
        }
        guard !kinds.isEmpty else { return }
        var rows = [["successor", "said", "served again after", "longest send", "failed"]]
        for kind in kinds {
            rows.append(try await fail(kind))
            say("  \(rows[rows.count - 1].joined(separator: " | "))")
        }
        report += [""] + Table.lines(rows)
    }

    private func fail(_ kind: RestartKind) async throws -> [String] {
        try await served(after: .now, "before \(kind.name)")
        let process = node.processID
        try await kind.spoil(place)
        let began = ContinuousClock.now
        let (lines, restarting) = (node.lines.count, Task { try await command() })
        if kind.isEnd { try await startAgain() }
        let result = try await restarting.value
        let served = try await served(after: began, "after \(kind.name)")
        if node.exit != nil || !kind.isEnd && node.processID != process {
            violations.append("\(kind.name): the node ended: \(node.lines.suffix(3))")
        }
        let hasGoneBack = node.lines.dropFirst(kind.isEnd ? 0 : lines).contains {
            $0.contains(" restart.went_back")
        }
        if result.status == 0, !kind.isEnd {
            violations.append("\(kind.name): the restart is said to be done")
        }
        try await kind.mend(place)
        let mended = try await command()
        if mended.status != 0 { violations.append("\(kind.name), mended: \(mended.words)") }
        try await look()
        try await self.served(after: .now, "after \(kind.name), mended")
        let ended = ContinuousClock.now
        let met = senders.sends.filter { $0.began < ended && ($0.ended ?? .now) > began }
        let failed = met.filter { $0.fault != nil }
        if !kind.isEnd {
            for send in failed { violations.append("\(kind.name): \(send.uid): \(send.fault ?? "")") }
        }
        if longest > .zero, served - began > longest * 2 {
            violations.append("\(kind.name): served again after \(served - began)")
        }
        let times = Table.medianAndLongest(times(of: met))
        return [
            kind.name, kind.isEnd ? "ended" : hasGoneBack ? "went back" : "goes on",
            "\(Int64((served - began) / .nanoseconds(1)).seconds) s", times[1], "\(failed.count)",
        ]
    }

    /// Starts the node again when it has ended, after a second, as a service manager does.
    private func startAgain() async throws {
        await node.wait { $0.exit != nil }
        let began = ContinuousClock.now
        for line in node.indiscretions { violations.append("the log tells what nobody may know: \(line)") }
        await pause(.seconds(1))
        gapBegan = nil
        node = try LabNode(bin + "/onionbelld", configuration: place.configuration)
        watch()
        _ = try await RestartsRun.address(of: node)
        // A client's tor that was being introduced as the service went waits for minutes, and so does all that comes to it
        // for the same service (seen with tor 0.4.9.11). Who comes anew is asked.
        try await clientsTor.takeNewIdentity()
        ends.append(began...ContinuousClock.now)
    }

    // MARK: The end

    func close() async {
        await senders.stop()
        await settle()
        await reader.process.kill()
        if node.exit == nil, await node.stop() != .exited(0) {
            violations.append("the node did not end in order")
        }
        for line in node.indiscretions { violations.append("the log tells what nobody may know: \(line)") }
        place.close()
        await tor.close()
        await clientsTor.kill()
        await world.close()
    }

    /// Compares what was promised with what came.
    private func settle() async {
        let taken = senders.sends.filter { $0.fault == nil }
        let titles = taken.filter(\.isToMailbox).map(\.uid)
        let end = ContinuousClock.now + .seconds(120)
        var missing: [String] = []
        repeat {
            await pause(.milliseconds(100))
            let counts = Dictionary(world.apple.book.map { ($0.deviceToken, 1) }, uniquingKeysWith: +)
            missing = taken.filter { !$0.isToMailbox && counts[$0.device] == nil }.map(\.uid)
            missing += Set(titles).subtracting(reader.titles)
        } while !missing.isEmpty && ContinuousClock.now < end
        if !missing.isEmpty { violations.append("lost: \(missing)") }
        let counts = Dictionary(world.apple.book.map { ($0.deviceToken, 1) }, uniquingKeysWith: +)
        let twice = counts.filter { $0.value > 1 }.count
        // After a kill nobody knows whether it had gone out.
        if twice > 0, ends.isEmpty { violations.append("\(twice) came twice") }
        if reader.shownAgain > 0 { violations.append("the reader has shown \(reader.shownAgain) twice") }
        for (uid, status) in senders.asked where status != .some(.delivered) {
            violations.append("\(uid) was told \(status.map { "\($0)" } ?? "nothing")")
        }
        for uid in senders.asked.keys where counts[senders.device(asked: uid)] == nil {
            violations.append("\(uid) did not come")
        }
        report.append(
            "\(taken.count) taken and come, \(twice) twice; the reader has shown \(reader.titles.count); \(senders.asked.count) outcomes heard"
        )
    }
}
