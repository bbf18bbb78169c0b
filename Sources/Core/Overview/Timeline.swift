/// The health of the node in each quarter of an hour of the last day, and the last changes of its checks.
///
/// Times are milliseconds since 1970. After the clock was set back, events and levels of the future are
/// dropped.
package struct Timeline: Equatable, Sendable {
    /// A check that is no longer well, or well again; or the node's start.
    package struct Event: Equatable, Sendable {
        package var at: Int64
        package var level: Check.Level
        /// The check that has changed; `nil`: the node started.
        package var kind: CheckKind?
        package var words: String
        /// The name of the check, or `start`.
        package var name: String { kind?.name ?? Event.start }

        private static let start = "start"

        init(at: Int64, level: Check.Level, kind: CheckKind?, words: String) {
            self.at = at
            self.level = level
            self.kind = kind
            self.words = words
        }

        /// Makes an event from its ``name`` in the file of the history.
        init(at: Int64, level: Check.Level, name: String, words: String) {
            self.init(
                at: at, level: level, kind: name == Event.start ? nil : CheckKind(name: name), words: words)
        }
    }

    /// The number of quarters of an hour in the day that is kept.
    package static let slots = 96
    package static let mostEvents = 20
    private static let slot: Int64 = 900_000
    /// The milliseconds that a start may take. Meanwhile nobody wonders that the address can't be reached.
    package static let settling: Int64 = 120_000
    static let settlingChecks: Set<CheckKind> = [.onion, .selfDial, .front, .tor]

    /// The last events, oldest first.
    package private(set) var events: [Event] = []
    /// The worst level by quarter of an hour since 1970.
    package private(set) var worst: [Int64: Check.Level] = [:]
    private var levels: [CheckKind: Check.Level] = [:]
    private var unwellSince: [CheckKind: Int64] = [:]
    private var startedAt: Int64?

    package init() {}

    /// Makes a timeline from the events and the worst levels of a
    /// process before this one. The last events are kept.
    package init(events: [Event], worst: [Int64: Check.Level]) {
        self.events = events.suffix(Timeline.mostEvents)
        self.worst = worst
    }

    /// Takes the checks as they are now.
    package mutating func note(_ checks: [Check], at now: Int64) {
        if startedAt == nil {
            startedAt = now
            add(Event(at: now, level: .ok, kind: nil, words: "the node started"))
        }
        let isSettling = now - (startedAt ?? now) < Timeline.settling
        let seen = checks.filter { !isSettling || !Timeline.settlingChecks.contains($0.kind) }
        for check in seen {
            let before = levels[check.kind] ?? .ok
            levels[check.kind] = check.level
            guard check.level != before else { continue }
            if before == .ok { unwellSince[check.kind] = now }
            let passed = Duration.milliseconds(now - (unwellSince[check.kind] ?? now))
            add(
                Event(
                    at: now, level: check.level, kind: check.kind,
                    words: check.level == .ok ? "well again after \(Words.time(passed))" : check.state))
        }
        let present = now / Timeline.slot
        worst[present] = max(worst[present] ?? .ok, seen.level)
        worst = worst.filter { $0.key <= present && $0.key > present - Int64(Timeline.slots) }
        events.removeAll { $0.at > now }
    }

    /// Returns the time since when a check has stood as it does, if a change of it is still remembered.
    package func since(_ kind: CheckKind) -> Int64? { events.last { $0.kind == kind }?.at }

    /// Returns the beginning and the worst level of each quarter of an hour, oldest first; `nil`: nobody looked.
    package func strip(at now: Int64) -> [(from: Int64, level: Check.Level?)] {
        let present = now / Timeline.slot
        return (0..<Int64(Timeline.slots)).map { index in
            let slot = present - Int64(Timeline.slots) + 1 + index
            return (slot * Timeline.slot, worst[slot])
        }
    }

    private mutating func add(_ event: Event) {
        events.append(event)
        if events.count > Timeline.mostEvents { events.removeFirst() }
    }
}
