import Relay

/// The outcomes of requests that the gateway has not answered.
extension GatewayLink {
    /// The outcome of what was sent while there is no connection: the operator's fault, or it comes back
    /// unharmed.
    var outcomeWithoutRoom: Outcome {
        fault.map { .blocked(reason: $0) }
            ?? .deferred(Deferral(.noConnection, scope: .device, isUnharmed: true))
    }

    /// Returns the outcome of a request that was surely not handled; a word in a GOAWAY may name what the
    /// operator must mend.
    func unharmed(_ reason: ExchangeReason) -> Outcome {
        if case .word(let word) = reason, isFault(word) { return .blocked(reason: word) }
        return .deferred(Deferral(reason: reason.text, scope: .device, isUnharmed: true))
    }

    /// Returns the outcome of a request that may have been handled: to be sent again under the same ids.
    func unclear(_ reason: ExchangeReason) -> Outcome {
        if reason == .own(.answerTimeout) { noteTimeout() }
        return .deferred(Deferral(reason: reason.text, scope: .device))
    }
}
