import Reactor
import Wire

/// How a connection came: by which circuit, or not yet known.
@EventLoop
struct Arrival {
    enum State {
        /// Tor's line on the circuit is not whole yet.
        case waiting(ProxyLineDecoder)
        case known(Circuit)
        /// It has no circuit: close it.
        case refused(Refusal)
    }

    enum Refusal {
        case malformed, tooManyConnections
    }

    private var state: State

    init(at circuits: Circuits) {
        if circuits.settings.areTold {
            state = .waiting(ProxyLineDecoder())
        } else {
            state = circuits.join(nil).map { .known($0) } ?? .refused(.tooManyConnections)
        }
    }

    var isWaiting: Bool { if case .waiting = state { true } else { false } }

    var circuit: Circuit? { if case .known(let circuit) = state { circuit } else { nil } }

    /// Takes tor's line from the head of the stream; what lies from `start` on is the peer's.
    mutating func receive(_ bytes: RawSpan, from start: inout Int, at circuits: Circuits) -> State {
        guard case .waiting(var decoder) = state else { return state }
        do throws(ProxyLineError) {
            if let line = try decoder.decode(Span<UInt8>(_bytes: bytes), from: &start) {
                state = circuits.join(line.circuit).map { .known($0) } ?? .refused(.tooManyConnections)
            } else {
                state = .waiting(decoder)
            }
        } catch {
            circuits.counters.withoutLine += 1
            state = .refused(.malformed)
        }
        return state
    }

    /// As ``Circuit/mayRead(_:)``.
    func mayRead(_ member: any CircuitMember) -> Bool { circuit?.mayRead(member) ?? true }

    func strike() { circuit?.strike() }

    /// The connection has ended. Only once.
    mutating func leave(_ member: any CircuitMember, hasMisbehaved: Bool) {
        if hasMisbehaved { strike() }
        circuit?.leave(member)
    }
}
