import Reactor
import Tor

/// The first consensus of a private network, held as soon as all relays are known instead of by the clock.
@EventLoop
struct DirectoryVote {
    let authorities: [LabTor]

    /// Torrc lines that put the first vote a quarter of an hour away. From the first consensus on the network stands still
    /// for an hour and is valid for a day.
    nonisolated static var farAway: [String] {
        let offset = (EventLoop.unixMilliseconds / 1000 + 900) % 1800
        return [
            "TestingV3AuthInitialVotingInterval 1800", "TestingV3AuthVotingStartOffset \(offset)",
            "TestingV3AuthInitialVoteDelay 2", "TestingV3AuthInitialDistDelay 2",
            "V3AuthVotingInterval 3600", "V3AuthVoteDelay 2", "V3AuthDistDelay 2", "V3AuthNIntervalsValid 24",
        ]
    }

    /// Rounds to try: seconds from one vote to the next, and how long to wait for a consensus. The first gives each step
    /// of the vote one second; the others are for a very busy machine.
    private static let rounds: [(interval: Int64, patience: Duration)] = [
        (5, .seconds(12)), (12, .seconds(30)), (30, .seconds(90)),
    ]

    func waitForDescriptors(_ count: Int) async throws(LabError) {
        let end = ContinuousClock.now + .seconds(60)
        for authority in authorities {
            while try await authority.value(of: "desc/all-recent").descriptorCount < count {
                guard ContinuousClock.now < end else {
                    throw .timedOut("the publishing of the relays' descriptors")
                }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    func hold() async throws(LabError) {
        for (interval, patience) in Self.rounds {
            try await schedule(interval)
            if try await hasConsensus(within: patience) { return }
        }
        throw .timedOut("the authorities' consensus")
    }

    /// Makes the vote begin with the next second.
    private func schedule(_ interval: Int64) async throws(LabError) {
        // Tor acts at the place within the second at which it got the command. Late in a second, a step slips into the next one,
        // meets the step after it, and the round is lost: so tell it early.
        let phase = EventLoop.unixMilliseconds % 1000
        if !(30..<200).contains(phase) { try? await Task.sleep(for: .milliseconds((1030 - phase) % 1000)) }
        let now = EventLoop.unixMilliseconds / 1000
        // Of an interval of 5 s tor gives 1 s to the votes and 1 s to the signatures; of longer ones the 2 s of the torrc.
        let lead: Int64 = interval < 8 ? 3 : 5
        for authority in authorities {
            do {
                try await authority.connection.send(
                    .setConfiguration([
                        ("TestingV3AuthInitialVotingInterval", "\(interval)"),
                        ("TestingV3AuthVotingStartOffset", "\((now + lead) % interval)"),
                        ("V3AuthVotingInterval", "3600"),
                    ]))
            } catch {
                throw .control(error)
            }
        }
    }

    private func hasConsensus(within patience: Duration) async throws(LabError) -> Bool {
        let end = ContinuousClock.now + patience
        for authority in authorities {
            let file = authority.dataDirectory + "/cached-microdesc-consensus"
            while (try? LabDirectory.read(file).isEmpty) ?? true {
                guard ContinuousClock.now < end else { return false }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        return true
    }
}

extension String {
    /// Router descriptors in the value of `desc/all-recent`.
    fileprivate var descriptorCount: Int {
        split(separator: "\n").count { $0.hasPrefix("router ") }
    }
}
