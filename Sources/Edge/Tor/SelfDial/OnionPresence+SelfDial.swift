/// Calls of the node to itself.
extension OnionPresence {
    /// Calls the own address as somebody outside does, when somebody asks for it.
    ///
    /// - Returns: `nil`: it is not published, or tor takes no connections.
    package func callOwnAddress() async -> (answer: SelfDialAnswer, duration: Duration)? {
        await watch.selfDial.test()
    }

    /// Whether tor has nothing to say soon that changes anything: the service is known, and no client has to be recognized
    /// as the node itself.
    func knowsAllButCircuits(at now: ContinuousClock.Instant) -> Bool {
        state.isPublished && !watch.selfDial.isCalling(at: now)
    }
}
