import Encodings
import Glibc
import Lab
import Reactor
import Wire

/// The rounds of one node with two upstreams.
@EventLoop
final class UpstreamRun {
    private let world: UpstreamWorld
    private let plan: UpstreamPlan
    private var random: SplitMix

    private var books: UpstreamBooks { world.books }
    var violations: [String] { books.violations.map { "\(world.name): \($0)" } }
    var log: [String] { world.log }

    /// The time after which the node has closed what it does not use: `RelayGateway.limits.rest` and a little.
    private static let rest: Duration = .seconds(4)
    /// How many a burst has, by turns: some are over when the others' connections stand, and the pace lets 40 go at once.
    private static let burstLengths = [8, 32, 96]
    private static let bursts = 10

    private init(_ world: UpstreamWorld, _ plan: UpstreamPlan, seed: UInt64) {
        (self.world, self.plan) = (world, plan)
        random = SplitMix(seed: seed)
    }

    /// Plays a plan with so many nodes side by side. Both forms are used in turn.
    static func play(
        _ plan: UpstreamPlan, by count: Int, _ network: PrivateTorNetwork, torrc: String, seed: UInt64
    ) async throws -> [UpstreamRun] {
        var runs: [UpstreamRun] = []
        for number in 0..<count {
            let world = try await UpstreamWorld(
                "node \(number + 1)", RelayForm.allCases[number % 2], network, torrc: torrc)
            runs.append(UpstreamRun(world, plan, seed: seed &+ UInt64(number)))
        }
        await withTaskGroup(of: Void.self) { group in
            for run in runs { group.addTask { await run.play() } }
        }
        return runs
    }

    private func play() async {
        while let (number, blow) = plan.next() {
            let before = books.violations.count
            world.note("round \(number): \(blow.rawValue)")
            var after: Int64?
            do { after = try await play(blow) } catch { books.violate("\(error)") }
            books.check()
            let isWell = books.violations.count == before
            plan.ended(blow, after: isWell ? after : nil)
            let words = isWell ? "all there \((after ?? 0).seconds) s after it" : "VIOLATED"
            say("  round \(number), \(world.name) (\(world.form.rawValue)): \(blow.rawValue): \(words)")
            for violation in books.violations[before...] { say("    \(violation)") }
        }
        say(
            "  \(world.name): \(books.promised) taken, upstreams asked \(books.repetitions) times for what they had been asked before"
        )
        await world.close()
    }

    /// Plays a round, and leaves all well again.
    ///
    /// - Returns: Nanoseconds from the end of the blow until all had come.
    private func play(_ blow: UpstreamBlow) async throws -> Int64 {
        try await sendToEach()
        await settle("before the blow", within: UpstreamBound.other)
        // What was not used is closed: the blow meets a dial.
        await pause(UpstreamRun.rest)
        try await strike(blow)
        let over = EventLoop.now.nanoseconds
        await settle("after the blow was over", within: UpstreamBound.after)
        return EventLoop.now.nanoseconds - over
    }

    /// The upstream that the node asks for Android's phones.
    private var asked: Int { books.lastAsked[.android] ?? 0 }

    private func sendToEach() async throws {
        for platform in world.form.platforms { try await world.send(to: platform) }
    }

    /// Waits until all that was promised has come to an upstream.
    private func settle(_ when: String, within bound: Duration) async {
        guard !(await isTrue(within: bound) { [books] in books.open.isEmpty }) else { return }
        for line in await world.waiting() { world.note("  \(line)") }
        books.violate(
            "\(books.open.count) wait longer than \(bound.components.seconds) s \(when): \(books.openWords)")
        books.giveUp()
    }

    private func isTrue(within bound: Duration, _ isSo: @EventLoop () -> Bool) async -> Bool {
        let end = ContinuousClock.now + bound
        while !isSo() {
            guard ContinuousClock.now < end else { return false }
            await pause(.milliseconds(20))
        }
        return true
    }

    /// Whether an upstream that answers nothing rings the phones all the same.
    private var oneOfFour: Bool { Int.random(in: 0..<4, using: &random) == 0 }

    private func seconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: (1000 * range.lowerBound)...(1000 * range.upperBound), using: &random))
    }

    // MARK: Blows

    private func strike(_ blow: UpstreamBlow) async throws {
        let upstream = asked
        switch blow {
        case .killed:
            let upstream = try await leaveUnanswered()
            world.kill(upstream)
            try await sendToEach()
            await pause(seconds(1...15))
            try world.revive(upstream)
        case .bothKilled: try await killBoth()
        case .deaf:
            try world.relays[upstream].goDeaf()
            try await sendToEach()
            await settle("while one takes no connection", within: UpstreamBound.other)
            try world.revive(upstream)
        case .silent:
            world.relays[upstream].outage = .silence(isDelivered: oneOfFour)
            try await sendToEach()
            await pause(seconds(1...20))
            world.relays[upstream].outage = nil
        case .unavailable:
            try await replace(upstream, by: .answer(status: Bool.random(using: &random) ? 429 : 503))
        case .broken:
            world.relays[upstream].outage = .answer(status: Bool.random(using: &random) ? 500 : 502)
            try await sendToEach()
            await pause(seconds(1...15))
            world.relays[upstream].outage = nil
        case .proxy:
            let status = [400, 404, 405, 413, 431].randomElement(using: &random) ?? 404
            try await replace(upstream, by: .page(status: status))
        case .otherForm: try await replace(upstream, by: .answer(status: 415))
        case .tor: try await stopTor(of: upstream)
        case .slow: try await makeSlow(1 - upstream, refusingAt: upstream)
        case .node:
            let upstream = try await leaveUnanswered()
            await world.killNode()
            world.relays[upstream].outage = nil
            try await world.startNode()
        case .inPlace:
            let upstream = try await leaveUnanswered()
            try await world.restartInPlace()
            world.relays[upstream].outage = nil
        case .burst:
            for number in 0..<UpstreamRun.bursts {
                try await burst(UpstreamRun.burstLengths[number % UpstreamRun.burstLengths.count])
            }
        }
    }

    /// Has all that comes while an upstream surely takes nothing come to the other one.
    private func replace(_ upstream: Int, by outage: RelayFault) async throws {
        world.relays[upstream].outage = outage
        try await sendToEach()
        try await world.burst(16, to: .android)
        await settle("while one answers \(outage)", within: UpstreamBound.other)
        world.relays[upstream].outage = nil
    }

    /// Has some requests at the upstream that is asked, which answers none of them, whether phones ring or not.
    ///
    /// - Returns: That upstream. The other one is well.
    private func leaveUnanswered() async throws -> Int {
        let relays = world.relays
        let before = relays.map { $0.figures.requests }
        let silence = RelayFault.silence(isDelivered: oneOfFour)
        // The node may go back to the first one at any time.
        for relay in relays { relay.outage = silence }
        try await sendToEach()
        try await world.send(to: .android)
        let isSent = await isTrue(within: UpstreamBound.quiet) {
            relays[0].figures.requests > before[0] || relays[1].figures.requests > before[1]
        }
        if !isSent { books.violate("nothing was sent in \(UpstreamBound.quiet.components.seconds) s") }
        // Some more may be on their way.
        await pause(seconds(0...1))
        let upstream = relays[0].figures.requests > before[0] ? 0 : 1
        relays[1 - upstream].outage = nil
        return upstream
    }

    /// The first upstream is away, the second dies with a request, the first is back and is asked, and then the second is back.
    private func killBoth() async throws {
        guard try await isFirstAsked() else { return }
        await pause(UpstreamRun.rest)
        world.kill(0)
        world.relays[1].outage = .silence(isDelivered: false)
        guard let bound = try await world.send(to: .android) else { return }
        let hasAsked = await isTrue(within: UpstreamBound.other) { [books] in books.hasAsked(1, for: bound) }
        world.kill(1)
        guard hasAsked else { return books.violate("the second was not asked in place of the first") }
        await pause(seconds(1...5))
        try world.revive(0)
        guard let next = try await world.send(to: .android) else { return }
        let isBack = await isTrue(within: UpstreamBound.back) { [books] in books.isTaken(next, by: 0) }
        if !isBack { books.violate("the first was back, and was not asked") }
        try world.revive(1)
    }

    /// Waits until the first upstream is asked for Android's phones: after an outage that takes a while.
    private func isFirstAsked() async throws -> Bool {
        let end = ContinuousClock.now + .seconds(600)
        while asked != 0 {
            guard ContinuousClock.now < end else {
                books.violate("nobody has gone back to the first upstream in 600 s")
                return false
            }
            await pause(.seconds(2))
            try await world.send(to: .android)
            await settle("while nothing was wrong", within: UpstreamBound.after)
        }
        return true
    }

    /// Circuits go on to stand, and nothing moves on them.
    private func stopTor(of upstream: Int) async throws {
        world.signalTor(of: upstream, SIGSTOP)
        let begun = EventLoop.now.nanoseconds
        try await sendToEach()
        await pause(seconds(5...70))
        world.signalTor(of: upstream, SIGCONT)
        // Answers that had been given meanwhile are not those of requests that were given up.
        books.isUnclear(upstream, since: begun)
    }

    /// One phone's notification is refused by the upstream that is asked, and each call to the other is answered after 8 s.
    private func makeSlow(_ slow: Int, refusingAt refusing: Int) async throws {
        let relay = world.relays[slow]
        try relay.goDeaf()
        let dragging = Task { @EventLoop in
            while !Task.isCancelled {
                await pause(.seconds(8))
                let before = relay.figures.connections
                try relay.listenAgain()
                while !Task.isCancelled, relay.figures.connections == before { await pause(.milliseconds(5)) }
                guard !Task.isCancelled else { return }
                try relay.goDeaf()
            }
        }
        world.relays[refusing].outage = .answer(status: 503)
        try await world.send(to: .android)
        await settle("while each call to the other takes 8 s", within: UpstreamBound.after)
        dragging.cancel()
        _ = await dragging.result
        try world.revive(slow)
        world.relays[refusing].outage = nil
    }

    /// Single notifications come while the lane of another platform has much to send.
    private func burst(_ count: Int) async throws {
        await pause(UpstreamRun.rest)
        var platforms = world.form.platforms.shuffled(using: &random)
        let busy = platforms.removeFirst()
        // All dial, and the single ones stand while the first of the burst are on their way to the disk.
        let delays = platforms.map { _ in Duration.milliseconds(Int.random(in: 0...400, using: &random)) }
        try await withThrowingTaskGroup(of: Void.self) { [world] group in
            group.addTask { try await world.burst(count, to: busy) }
            for (platform, delay) in zip(platforms, delays) {
                group.addTask {
                    await pause(delay)
                    try await world.send(to: platform)
                }
            }
            try await group.waitForAll()
        }
        await settle("behind a burst for \(busy)", within: UpstreamBound.quiet)
    }
}
