import Encodings

/// The circuits of one tor at one moment, as tor has told them. The node asks tor nothing between two such moments, so a
/// stranger's circuit costs nothing.
struct CircuitBook: Equatable, Sendable {
    /// The use of a circuit of an onion service.
    enum Use: Equatable, Sendable {
        case introductionPoint
        /// Rendezvous that waits for its client.
        case coming
        /// Rendezvous that is joined with its client's circuit.
        case client
    }

    private(set) var circuits = 0
    private var ones: [CircuitLine] = []

    /// Takes one more line of `GETINFO circuit-status`.
    mutating func take(_ line: Span<UInt8>) {
        guard !line.isEmpty else { return }
        circuits += 1
        guard var one = CircuitLine(line) else { return }
        // One text for all of a service.
        if let last = ones.last?.serviceID, last == one.serviceID { one.serviceID = last }
        ones.append(one)
    }

    func introductionPoints(of serviceID: String?) -> Int {
        ones.count { $0.use == .introductionPoint && $0.serviceID == serviceID }
    }

    func clients(of serviceID: String?) -> Int {
        ones.count { $0.use == .client && $0.serviceID == serviceID }
    }

    /// Returns the circuits by which a client talks to one of these services.
    func clients(of isOurs: (_ serviceID: String) -> Bool) -> Set<UInt32> {
        Set<UInt32>(ones.filter { $0.use == .client && isOurs($0.serviceID) }.map(\.id))
    }

    /// Returns the circuits of all clients of these services, also of those that are about to come.
    func rendezvous(of isOurs: (_ serviceID: String) -> Bool) -> [UInt32] {
        ones.filter { $0.use != .introductionPoint && isOurs($0.serviceID) }.map(\.id)
    }
}
