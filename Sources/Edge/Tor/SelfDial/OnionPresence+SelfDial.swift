import Reactor

/// Calls of the node to itself.
extension OnionPresence {
    /// Calls the own address as somebody outside does, when somebody asks for it.
    ///
    /// - Returns: `nil`: it is not published, or tor takes no connections.
    package func callOwnAddress() async -> (answer: SelfDialAnswer, duration: Duration)? {
        await watch.selfDial.test()
    }

    /// Returns how the own address is called now; `nil`: not at all, since tor takes no SOCKS connections.
    ///
    /// - Throws: Where the connection to tor has ended. That tells itself, and says nothing of the address or of SOCKS.
    func selfDialRoute(at now: ContinuousClock.Instant) async throws(ControlError) -> SelfDialRoute? {
        guard let link, let address else { throw .closed }
        // The system's tor has other users.
        let isAfresh =
            settings.source.isOurs && (forgotAt.map { now - $0 > SelfDial.leastForgetting } ?? true)
        await service?.prepareCall(afresh: isAfresh, within: settings.heartbeatDeadline)
        if isAfresh { forgotAt = .now }
        // It may have come or gone since the start.
        let found: Endpoint?
        do throws(ControlError) {
            found = try await socks(of: link)
        } catch {
            guard case .refused = error else { throw error }
            found = nil
        }
        guard link.connection === self.link?.connection, link.connection.end == nil else { throw .closed }
        attachment?.socks = found
        guard let found else {
            if !settings.source.isOurs { presenceLog.foundNoSocks() }
            return nil
        }
        return SelfDialRoute(socks: found, address: address)
    }
}
