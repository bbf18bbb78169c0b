@testable import Relay

/// How gateways and the disk behave, and what is read from it.
extension World {
    func changeMood() {
        guard hasFaults else { return }
        if isQuiet, draw(4) > 0 {
            gateway.heal()
            isDiskBroken = false
            return
        }
        isDiskBroken = draw(10) == 0
        let mood = ModelGateway.Mood.allCases[draw(ModelGateway.Mood.allCases.count)]
        let lanes = World.lanes + World.origins
        gateway.change(lanes[draw(lanes.count)], to: mood)
    }

    /// The outbox reads; that is not known yet.
    func takeClaim() {
        guard let index = claims.indices.first(where: { claims[$0].claimed == nil }) else { return }
        let claimed = outbox.claim(claims[index].claim)
        claimBeside(claims[index].claim, as: claimed)
        claims[index].claimed = claimed
        if canary == .handsOutTheLastFirst { claims[index].claimed?.rows.reverse() }
    }

    func endClaim(succeeds: Bool) {
        guard !claims.isEmpty else { return }
        if succeeds, claims[0].claimed == nil { takeClaim() }
        let (claim, claimed) = claims.removeFirst()
        if let claimed {
            pipeline.claimed(claimed, by: claim, at: now)
        } else {
            pipeline.claimFailed(claim, at: now)
        }
        carryOut()
    }

    func endLoad(succeeds: Bool) {
        guard let (lane, sequences) = loads.min(by: { $0.value[0] < $1.value[0] }) else { return }
        loads[lane] = nil
        guard let index = pipeline.lane(of: lane) else { return fail("\(lane) is gone while it loads") }
        if succeeds {
            let found = outbox.notifications(sequences)
            readBeside(sequences, as: found)
            pipeline.loaded(found, of: sequences, lane: index, at: now)
        } else {
            pipeline.loadFailed(sequences, lane: index, at: now)
        }
        carryOut()
    }
}
