import Clocks
import Encodings
import JSONCoding
import Reactor
import Relay

/// The list as lines of JSON: for the program that this process becomes, and on disk.
extension Rings {
    /// The bytes of a list at most; a ring takes some two hundred.
    package static let longest = 1 << 22
    private static let handed = "rings"
    private static let mostWatched = 500

    /// Keeps a page of the list for the program that this process becomes. It goes from memory to memory.
    func handOn() { Handover.shared.keep(Rings.handed, lines(atMost: Rings.most)) }

    /// Takes the list that this process was handed; `nil`: none that can be read.
    static func handedOver() -> Rings? {
        Handover.shared.takeBytes(handed, limit: longest).flatMap { Rings(lines: $0) }
    }

    /// Returns a line for each ring, the oldest first, then for the last ring of each phone and mailbox, and for what was
    /// refused.
    package func lines(atMost most: Int = .max) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ json: JSON) {
            bytes.append(json: json)
            bytes.append(UInt8(ascii: "\n"))
        }
        for ring in page(skipping: 0, atMost: most).reversed() { add(.object(ring.members)) }
        for ring in Array(last.values.prefix(Rings.mostWatched)) + Array(lastOfMailboxes.values) {
            add(.object(ring.members.merging(["last": .bool(true)])))
        }
        for refused in refused.reversed() {
            add([
                "door": .string(refused.door), "refused": .string(refused.reason),
                "count": .integer(Int64(refused.count)), "at": .integer(refused.at.milliseconds),
            ])
        }
        return bytes
    }

    /// Reads the lines; `nil`: they are none of ours.
    package init?(lines: [UInt8], room: Int = Rings.most) {
        guard lines.count <= Rings.longest else { return nil }
        self.init(room: room)
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard let row = try? JSON(Array(line)) else { return nil }
            if row["refused"] != nil {
                guard refused.count < Rings.mostRefused, let entry = Refused(row) else { return nil }
                refused.insert(entry, at: 0)
            } else if let ring = Ring(row) {
                if row["last"] == nil {
                    add(ring)
                } else if let name = ring.mailbox {
                    lastOfMailboxes[ByteText(name)] = ring
                } else {
                    last[ring.device] = ring
                }
            } else {
                return nil
            }
        }
    }
}

extension Rings.Ring {
    fileprivate var members: JSON.Object {
        var members: JSON.Object = [
            "at": .integer(at.milliseconds), "sequence": .integer(sequence),
            "high": .integer(Int64(bitPattern: device.high)), "low": .integer(Int64(bitPattern: device.low)),
            "app": .string(lane.app), "host": .string(lane.host.name), "outcome": .string(outcome.rawValue),
            "taken": .integer(taken),
        ]
        if let door { members["door"] = .string(door) }
        if let reason { members["reason"] = .string(reason) }
        if let mailbox { members["mailbox"] = .string(mailbox) }
        return members
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
            reason: row["reason"]?.string, taken: taken, mailbox: row["mailbox"]?.string)
    }
}

extension Rings.Refused {
    fileprivate init?(_ row: JSON) {
        guard let door = row["door"]?.string, let reason = row["refused"]?.string,
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

    /// Goes on with a list that lay on disk.
    package func goOn(with rings: consuming Rings) { self.rings = rings }

    /// Forgets what was known of rings before a time.
    package func forgetRings(before time: UnixTime) { rings.forget(before: time) }
}
