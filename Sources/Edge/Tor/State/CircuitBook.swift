/// The circuits of one tor that stand, as far as events tell since the control connection began. A tor that others run
/// tells those that stood before it.
///
/// Bounded by tor, which tells the end of every circuit.
struct CircuitBook: Equatable, Sendable {
    /// The use of a circuit.
    enum Use: Equatable, Sendable {
        case introductionPoint
        /// Rendezvous that waits for its client.
        case coming
        /// Rendezvous that is joined with its client's circuit.
        case client
        /// Rendezvous of another onion service of this tor, joined or waiting for its client.
        case neighbours
        case other
    }

    private(set) var introductionPoints = 0
    private(set) var clients = 0
    private var uses: [UInt32: Use] = [:]

    var circuits: Int { uses.count }

    /// Whether a client talks by this circuit to the service or to a neighbour.
    func isClient(_ circuit: UInt32) -> Bool { uses[circuit] == .client || uses[circuit] == .neighbours }

    /// The circuits of all clients, also of those that are about to come.
    var rendezvous: [UInt32] {
        uses.compactMap { id, use in
            use == .client || use == .coming || use == .neighbours ? id : nil
        }
    }

    /// Takes an event; returns whether a client of the service came by a new circuit.
    mutating func take(
        _ event: CircuitEvent, of serviceID: String?,
        isNeighbour: (_ serviceID: String) -> Bool = { _ in false }
    ) -> Bool {
        guard event.isOpen else {
            count(uses.removeValue(forKey: event.id), by: -1)
            return false
        }
        let use = event.use(for: serviceID, isNeighbour: isNeighbour)
        let before = uses.updateValue(use, forKey: event.id)
        count(before, by: -1)
        count(use, by: 1)
        return use == .client && before != .client
    }

    private mutating func count(_ use: Use?, by number: Int) {
        switch use {
        case .introductionPoint: introductionPoints += number
        case .client: clients += number
        case .coming, .neighbours, .other, nil: break
        }
    }
}
