/// Tor's answer to the question how it is.
struct TorPulse: Equatable, Sendable {
    var version: String
    var bootstrap: Bootstrap
    var hasCircuit: Bool
    var isNetworkLive: Bool
    /// Tor's circuits; none where a filter before its control port lets this question through to nobody.
    var circuits = CircuitBook()
    /// The beginning of tor's consensus; see ``ClockView/validFrom``.
    var consensusFrom: Int64?

    static let question = ControlCommand.getInfo([
        "version", "status/bootstrap-phase", "status/circuit-established", "network-liveness",
    ])

    init(_ reply: ControlReply) throws(ControlSyntaxError) {
        guard let version = reply["version"],
            let bootstrap = reply["status/bootstrap-phase"].flatMap(Bootstrap.init(phase:)),
            let circuit = reply["status/circuit-established"], let network = reply["network-liveness"]
        else { throw .unreadableReply(to: "GETINFO") }
        self.version = ControlRefusal.printable(version)
        self.bootstrap = bootstrap
        hasCircuit = circuit == "1"
        isNetworkLive = network == "up"
    }
}

extension TorFigures {
    mutating func take(_ pulse: TorPulse) {
        version = pulse.version
        bootstrap = pulse.bootstrap
        hasCircuit = pulse.hasCircuit
        isNetworkLive = pulse.isNetworkLive
        consensusFrom = pulse.consensusFrom
    }
}
