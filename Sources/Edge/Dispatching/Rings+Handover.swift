import Clocks
import JSONCoding
import Reactor
import Relay

/// The list over a restart in place: its owner changes a setting, and goes on reading. It goes from memory to memory.
extension Rings {
    private static let name = "rings"
    /// Bytes; a ring takes some two hundred.
    private static let limit = 1 << 18
    private static let mostWatched = 500

    /// Keeps the list for the program that this process becomes.
    func handOn() {
        var bytes: [UInt8] = []
        bytes.append(json: note)
        if bytes.count <= Rings.limit { Handover.shared.keep(Rings.name, bytes) }
    }

    var note: JSON {
        [
            "rings": .array(all.reversed().map(\.json)),
            "last": .array(last.values.prefix(Rings.mostWatched).map(\.json)),
            "refused": .array(
                refused.map {
                    [
                        "door": .string($0.door), "reason": .string($0.reason),
                        "count": .integer(Int64($0.count)), "at": .integer($0.at.milliseconds),
                    ]
                }),
        ]
    }

    /// Takes the list that this process was handed; `nil`: none that can be read.
    static func handedOver() -> Rings? {
        Handover.shared.takeBytes(name, limit: limit).flatMap { try? JSON($0) }.flatMap { Rings($0) }
    }

    init?(_ note: JSON) {
        guard let rings = note["rings"]?.array, rings.count <= Rings.most, let last = note["last"]?.array,
            last.count <= Rings.mostWatched, let refused = note["refused"]?.array,
            refused.count <= Rings.mostRefused
        else { return nil }
        self.init()
        for row in last {
            guard let ring = Ring(row) else { return nil }
            self.last[ring.device] = ring
        }
        for row in rings {
            guard let ring = Ring(row) else { return nil }
            add(ring)
        }
        for row in refused {
            guard let entry = Refused(row) else { return nil }
            self.refused.append(entry)
        }
    }
}

extension Rings.Ring {
    fileprivate var json: JSON {
        [
            "at": .integer(at.milliseconds), "sequence": .integer(sequence),
            "high": .integer(Int64(bitPattern: device.high)), "low": .integer(Int64(bitPattern: device.low)),
            "app": .string(lane.app), "host": .string(lane.host.name),
            "door": door.map { .string($0) } ?? .null, "outcome": .string(outcome.rawValue),
            "reason": reason.map { .string($0) } ?? .null, "taken": .integer(taken),
        ]
    }

    fileprivate init?(_ row: JSON) {
        guard let at = row["at"]?.integer, let sequence = row["sequence"]?.integer,
            let high = row["high"]?.integer, let low = row["low"]?.integer,
            let app = row["app"]?.string, let host = row["host"]?.string,
            let outcome = row["outcome"]?.string.flatMap(Outcome.init), let taken = row["taken"]?.integer
        else { return nil }
        self.init(
            at: UnixTime(milliseconds: at), sequence: sequence,
            device: Digest(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low)),
            lane: LaneID(app: app, host: LaneHost(host)), door: row["door"]?.string, outcome: outcome,
            reason: row["reason"]?.string, taken: taken)
    }
}

extension Rings.Refused {
    fileprivate init?(_ row: JSON) {
        guard let door = row["door"]?.string, let reason = row["reason"]?.string,
            let count = row["count"]?.integer.flatMap({ Int(exactly: $0) }), count > 0,
            let at = row["at"]?.integer
        else { return nil }
        self.init(door: door, reason: reason, count: count, at: UnixTime(milliseconds: at))
    }
}

extension Dispatcher {
    /// Keeps what only memory has, and the node's owner reads, for the program that this process becomes.
    package func handOnRings() { rings.handOn() }

    /// Takes that over.
    package func takeOverRings() { if let handed = Rings.handedOver() { rings = handed } }
}
