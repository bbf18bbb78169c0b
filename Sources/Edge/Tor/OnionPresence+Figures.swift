import Reactor

/// The figures, as tor's answers and its circuits change them.
extension OnionPresence {
    func take(_ pulse: TorPulse) {
        counted.take(pulse)
        counted.lastAnswer = EventLoop.awake
        if pulse.hasCircuit, circuits.introductionPoints > 0 { counted.lastSign = EventLoop.awake }
    }

    func take(_ circuit: CircuitEvent) {
        guard circuits.take(circuit, of: address?.serviceID, isNeighbour: form.hasNeighbour),
            !watch.selfDial.isCalling(at: .now)
        else { return }
        counted.lastClient = EventLoop.unixTime
        counted.lastClientInstant = EventLoop.now
    }
}
