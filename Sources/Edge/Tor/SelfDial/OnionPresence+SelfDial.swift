/// Calls of the node to itself.
extension OnionPresence {
    /// Calls the own address as somebody outside does, when somebody asks for it.
    ///
    /// - Returns: `nil`: it is not published, or tor takes no connections.
    package func callOwnAddress() async -> (answer: SelfDialAnswer, duration: Duration)? {
        await watch.selfDial.test()
    }

    /// Nothing is to be heard from tor soon that changes anything: the service is known, and it is not to be told whether a
    /// client is the node itself.
    var knowsAllButCircuits: Bool { state.isPublished && !watch.selfDial.isCalling }
}
