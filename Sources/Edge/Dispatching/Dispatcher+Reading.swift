import Clocks
import Outbound
import Reactor
import Relay

/// The reads of the outbox that the core wants.
extension Dispatcher {
    func load(_ sequences: [Int64], _ lane: Int) {
        Task {
            do throws(OutboxError) {
                let found = try await outbox.notifications(sequences)
                lockFault = nil
                pipeline.loaded(found, of: sequences, lane: lane, at: .now)
            } catch {
                noteReadFault(error)
                pipeline.loadFailed(sequences, lane: lane, at: .now)
            }
            execute()
        }
    }

    func claim(_ claim: Claim) {
        Task {
            do throws(OutboxError) {
                let claimed = try await outbox.claim(claim)
                lockFault = nil
                pipeline.claimed(claimed, by: claim, at: .now)
            } catch {
                // It may be closed by now.
                guard !isStopping else { return }
                noteReadFault(error)
                pipeline.claimFailed(claim, at: .now)
            }
            execute()
        }
    }

    func divide(_ request: ShareRequest) {
        Task {
            do throws(OutboxError) {
                let asked = machineClock.offset
                let share = try await outbox.divide(request)
                lockFault = nil
                let isOfThisClock = (machineClock.offset - asked).magnitude < Self.clockStep
                if isOfThisClock {
                    if let known = share.known { takeClock(toBe: known.clockError) }
                    if share.nodes == 1 { takeClock(toBe: nil) }
                }
                pipeline.divided(share, isOfThisClock: isOfThisClock, at: .now)
                note(share.takenOver)
            } catch {
                // The next commit says more of it, unless only what is read is locked.
                noteLock(error)
                pipeline.divideFailed(at: .now)
            }
            execute()
        }
    }

    private func noteLock(_ error: OutboxError) {
        if case .locked = error { lockFault = error }
    }

    private func noteReadFault(_ error: OutboxError) {
        noteLock(error)
        log.error("outbox.read_failed", metadata: ["reason": "\(error)"])
    }

    func note(_ takenOver: TakeOver?) {
        guard let takenOver else { return }
        log.notice(
            "outbox.taken_over",
            metadata: ["shards": "\(takenOver.shards)", "may_repeat": "\(takenOver.mayRepeat)"])
    }

    /// Milliseconds by which a wall clock moves when somebody sets it, at least: less is no error.
    private static let clockStep = 30_000

    /// The present by this machine's clock, and milliseconds of its wall clock less those of the one that nobody sets.
    private var machineClock: (now: Instant, offset: Int64) {
        let now = Instant(
            unix: UnixTime(milliseconds: EventLoop.machineMilliseconds), monotonic: EventLoop.now)
        return (now, now.unix.milliseconds - now.monotonic.nanoseconds / 1_000_000)
    }

    /// Takes the store's clock for what is signed and for when that ends, where this machine's is the wrong one and no push
    /// service tells the same time.
    ///
    /// - Parameter found: `nil`: not known now. The error stays as it was, until somebody sets the machine's clock.
    func takeClock(toBe found: Duration?) {
        let told = gateways.indices.compactMap {
            pipeline.lanes[$0].id.host.isOrigin ? nil : gateways[$0]?.timeTold
        }
        let (machine, offset) = machineClock
        let isSet = (offset - machineOffset).magnitude >= Self.clockStep
        machineOffset = offset
        let ahead = ToldTime.clockError(
            found ?? (isSet ? .zero : clockError), unlessDenied: told, on: machine)
        guard ahead - clockError >= .seconds(1) || clockError - ahead >= .seconds(1) else { return }
        clockError = ahead
        EventLoop.takeWallClock(toBeAhead: ahead.nanoseconds / 1_000_000)
        log.warning("node.clock_corrected", metadata: ["ahead_seconds": "\(ahead.components.seconds)"])
    }

    /// Returns once gateways have answered what they have now, or at the limit. More goes to them meanwhile.
    package func waitForGateways(within limit: Duration) async {
        let now = EventLoop.now
        while pipeline.hasInFlight(since: now), EventLoop.now < now + limit {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Returns once the outbox has done what was asked of it before: the outbox hangs as long as this does.
    package func waitForOutbox() async {
        _ = try? await outbox.notifications([])
    }
}
