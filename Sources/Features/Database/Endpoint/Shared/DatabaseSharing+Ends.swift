import Persistence
import Relay

/// The ends of what this node has put into the store for others.
extension DatabaseSharing {
    /// Returns the ends of those of these notifications that have ended, by number.
    func find(_ awaited: [Int64]) throws(StoreError) -> [Int64: Share.End] {
        guard !awaited.isEmpty else { return [:] }
        try ends.bind(1, "{\(awaited.map(String.init).joined(separator: ","))}")
        defer { ends.reset() }
        var found: [Int64: Share.End] = [:]
        while try ends.step() {
            let isForgotten = ends.integer(1) != 0
            if isForgotten {
                found[ends.integer(0)] = .forgotten
            } else if ends.isNull(2) {
                found[ends.integer(0)] = .ended(.delivered)
            } else if ends.integer(2) == Identities.kept {
                found[ends.integer(0)] = .kept
            } else if let ending = Ending(
                code: ends.integer(2), reason: ends.text(3), detail: ends.isNull(4) ? nil : ends.text(4))
            {
                found[ends.integer(0)] = .ended(ending)
            }
        }
        return found
    }
}
