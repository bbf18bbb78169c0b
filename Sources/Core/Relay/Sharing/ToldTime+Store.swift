import Clocks

extension ToldTime {
    /// Returns how far this machine's clock is taken to be ahead where the clocks of a shared store say that it is: not at all
    /// where somebody else tells the same time as this machine. Then the store's clock is wrong, and so are those that agree with
    /// it.
    ///
    /// - Parameters:
    ///   - told: The answers of push services.
    ///   - machine: What this machine says.
    package static func clockError(
        _ ahead: Duration, unlessDenied told: [ToldTime?], on machine: Instant
    ) -> Duration {
        told.contains { $0?.agrees(with: machine) == true } ? .zero : ahead
    }
}
