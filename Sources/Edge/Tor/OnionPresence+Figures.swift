import Reactor

/// The figures, as tor's answers and its circuits change them.
extension OnionPresence {
    func take(_ pulse: TorPulse) {
        counted.take(pulse)
        counted.lastAnswer = EventLoop.awake
        circuits = pulse.circuits
        if pulse.hasCircuit, circuits.introductionPoints(of: address?.serviceID) > 0 {
            counted.lastSign = EventLoop.awake
        }
    }

    /// Notes that somebody has connected to the service.
    package func clientCame() {
        guard !watch.selfDial.isCalling(at: .now) else { return }
        counted.lastClient = EventLoop.unixTime
        counted.lastClientInstant = EventLoop.now
    }
}
