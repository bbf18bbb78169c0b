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
        claims[index].claimed = outbox.claim(claims[index].claim)
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
}
