import Doors

/// What holds against floods.
extension Settings {
    /// What tor does about floods.
    mutating func read(defence section: SettingsReader.Section) {
        onion.isGuarded = section.flag("guarded", default: onion.isGuarded)
        onion.streamsPerCircuit = section.integer(
            "streams_per_circuit", default: onion.streamsPerCircuit, in: 0...65535)
        onion.hasProofOfWork = section.flag("proof_of_work", default: onion.hasProofOfWork)
        onion.work.perSecond = section.integer("work_rate", default: onion.work.perSecond, in: 1...1_000_000)
        onion.work.burst = section.integer("work_burst", default: onion.work.burst, in: 1...10_000_000)
        onion.introductions.perSecond = section.integer(
            "introduction_rate", default: onion.introductions.perSecond, in: 0...1_000_000)
        onion.introductions.burst = section.integer(
            "introduction_burst", default: onion.introductions.burst, in: 1...1_000_000)
        if onion.work.burst < onion.work.perSecond {
            section.fault("work_burst", "must not be less than work_rate, \(onion.work.perSecond)")
        }
        if onion.introductions.burst < onion.introductions.perSecond {
            section.fault(
                "introduction_burst",
                "must not be less than introduction_rate, \(onion.introductions.perSecond)")
        }
        if onion.introductions.perSecond > 0, !isGuarded {
            section.fault("introduction_rate", "needs tor.mode: own and guarded: true")
        }
    }

    /// Whether tor tells the circuit of each connection.
    var isGuarded: Bool { tor.mode == .own && onion.isGuarded }

    /// What one circuit may use.
    mutating func read(circuits section: SettingsReader.Section) {
        let limits = circuits.limits
        circuits.limits.connections = section.integer(
            "connections", default: limits.connections, in: 0...1_000_000)
        circuits.limits.framesPerSecond = section.integer(
            "frames_per_second", default: limits.framesPerSecond, in: 0...1_000_000)
        circuits.limits.bytesPerSecond = section.integer(
            "bytes_per_second", default: limits.bytesPerSecond, in: 0...1_000_000_000)
        circuits.limits.strikes = section.integer("strikes", default: limits.strikes, in: 0...1000)
        section.refuseUnknownKeys()
    }
}
