import Relay

/// The outcomes of requests that the gateway has not answered.
extension GatewayLink {
    /// The outcome of what was sent while there is no connection: the operator's fault, or it comes back
    /// unharmed.
    var outcomeWithoutRoom: Outcome {
        fault.map { .blocked(reason: $0) }
            ?? .deferred(Deferral(reason: "NoConnection", scope: .device, isUnharmed: true))
    }

    /// Returns the outcome of a request that was surely not handled; a word in a GOAWAY may name what the
    /// operator must mend.
    func unharmed(_ reason: String) -> Outcome {
        isFault(reason)
            ? .blocked(reason: reason)
            : .deferred(Deferral(reason: reason, scope: .device, isUnharmed: true))
    }
}
