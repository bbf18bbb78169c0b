/// The wait between attempts: longer each time, never the same for two nodes.
package struct Backoff: Equatable, Sendable {
    private let first: Duration
    private let longest: Duration
    private var ceiling: Duration

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        ceiling = first
    }

    /// Returns half to all of a time that doubles with every call.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        defer { ceiling = min(ceiling * 2, longest) }
        return ceiling / 2 + ceiling / 2 * Double.random(in: 0...1, using: &random)
    }

    package mutating func reset() { ceiling = first }
}
