import Clocks

// Whatever says it is tor tells of circuits, uploads and the clock: all of it, on into what the node keeps and shows.
// Built with the pure sources of Tor by Deploy/tools/fuzz.

func fuzzTor(_ input: [UInt8]) {
    // The first eight bytes are the clock's.
    let offset = input.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    var decoder = ControlDecoder()
    decoder.append(Array(input.dropFirst(8)).span.bytes)
    var figures = TorFigures()
    decoder.readsCircuits = true
    var clock = ClockView()
    while let reply = try? decoder.next() {
        figures.take(reply.circuits, of: "a")
        guard reply.isEvent else {
            clock.note(consensusIn: reply)
            continue
        }
        guard let event = try? ControlEvent(reply) else { continue }
        figures.take(event, of: "a", at: UnixTime(milliseconds: offset), clockOffset: offset)
        if case .clockSkew(let seconds) = event { clock.note(skew: seconds) }
    }
    check(figures, at: offset)
    check(clock)
}

/// Whoever shows it may add to it and subtract from it.
private func check(_ figures: TorFigures, at offset: Int64) {
    precondition(figures.introductionPoints >= 0 && figures.clientCircuits >= 0)
    precondition(figures.introductionPoints + figures.clientCircuits <= figures.circuits)
    precondition(figures.uploadFailures.count <= 17)
    guard let skew = figures.clockSkew else { return }
    precondition(skew.seconds(at: offset).magnitude <= 1 << 40)
    for other in [Int64.min, 0, .max, -offset &- 1] { _ = skew.seconds(at: other) }
}

private func check(_ clock: ClockView) {
    for time in [clock.validFrom, clock.validUntil].compactMap(\.self) {
        precondition((0...253_402_300_800).contains(time), "a year beyond 9999")
    }
    precondition((clock.skew ?? 0).magnitude <= 1 << 40)
}
