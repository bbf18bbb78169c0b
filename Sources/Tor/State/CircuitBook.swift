/// The circuits of one tor that stand, as far as events tell since the control connection began.
///
/// Bounded by tor, which tells the end of every circuit.
struct CircuitBook: Equatable, Sendable {
    /// What a circuit is for.
    enum Use: Equatable, Sendable {
        case introductionPoint
        /// Rendezvous of a client that has not come there yet.
        case coming
        /// Rendezvous with a client: joined.
        case client
        case other
    }

    private(set) var introductionPoints = 0
    private(set) var clients = 0
    private var uses: [String: Use] = [:]

    var circuits: Int { uses.count }

    /// Whether it is a circuit by which a client talks to the service.
    func isClient(_ circuit: UInt32) -> Bool { uses["\(circuit)"] == .client }

    /// The circuits of all clients, also of those that are about to come.
    var rendezvous: [UInt32] {
        uses.compactMap { id, use in use == .client || use == .coming ? UInt32(id) : nil }
    }

    /// - Returns: whether a client came by a new circuit.
    mutating func take(_ event: CircuitEvent, of serviceID: String?) -> Bool {
        guard event.isOpen else {
            count(uses.removeValue(forKey: event.id), by: -1)
            return false
        }
        let use = event.use(for: serviceID)
        let before = uses.updateValue(use, forKey: event.id)
        count(before, by: -1)
        count(use, by: 1)
        return use == .client && before != .client
    }

    private mutating func count(_ use: Use?, by number: Int) {
        switch use {
        case .introductionPoint: introductionPoints += number
        case .client: clients += number
        case .coming, .other, nil: break
        }
    }
}

/// CIRC and CIRC_MINOR: a circuit stands, has another purpose or state, or has ended.
package struct CircuitEvent: Equatable, Sendable {
    /// Tor's number for it.
    package var id: String
    package var isOpen: Bool
    /// `HS_SERVICE_INTRO`, `HS_SERVICE_REND`, ….
    package var purpose: String
    /// `HSSI_ESTABLISHED`, `HSSR_JOINED`, …; empty for other circuits.
    package var state: String
    /// The onion service it belongs to; empty for other circuits.
    package var serviceID: String

    package init(id: String, isOpen: Bool, purpose: String = "", state: String = "", serviceID: String = "") {
        self.id = id
        self.isOpen = isOpen
        self.purpose = purpose
        self.state = state
        self.serviceID = serviceID
    }

    /// `nil` for a step on the way: a circuit that is extended or waits for a better guard, or one that is launched,
    /// unless it is to meet a client.
    init?(_ text: Substring) {
        // With many clients these come by the thousand, and most are of no interest: no full parse before that is known.
        let head = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard head.count >= 3 else { return nil }
        self.init(id: String(head[1]), isOpen: true)
        switch head[2] {
        case "CLOSED", "FAILED":
            isOpen = false
            return
        case "BUILT", "PURPOSE_CHANGED", "CANNIBALIZED": break
        case "LAUNCHED" where head.last!.split(separator: " ").contains("PURPOSE=HS_SERVICE_REND"): break
        default: return nil
        }
        guard head.count == 4 else { return }
        for word in head[3].split(separator: " ") {
            if word.hasPrefix("PURPOSE=") {
                purpose = String(word.dropFirst(8))
            } else if word.hasPrefix("HS_STATE=") {
                state = String(word.dropFirst(9))
            } else if word.hasPrefix("REND_QUERY=") {
                serviceID = String(word.dropFirst(11))
            }
        }
    }

    func use(for serviceID: String?) -> CircuitBook.Use {
        guard self.serviceID == serviceID else { return .other }
        return switch (purpose, state) {
        case ("HS_SERVICE_INTRO", "HSSI_ESTABLISHED"): .introductionPoint
        case ("HS_SERVICE_REND", "HSSR_JOINED"): .client
        case ("HS_SERVICE_REND", _): .coming
        default: .other
        }
    }
}
