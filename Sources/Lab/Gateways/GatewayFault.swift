import HTTP2

/// A wrong behaviour of a simulated gateway at a request.
package indirect enum GatewayFault: Equatable, Sendable {
    /// An error in the service's own JSON form. FCM: `reason` is the `errorCode` of its `FcmError`; none: without one,
    /// as a wrong project or path is answered.
    case answer(status: Int, reason: String?, timestamp: Int64? = nil, retryAfter: String? = nil)
    /// Any status and text, with or without sense.
    case text(status: Int, String, retryAfter: String? = nil)
    /// A page where JSON was to come, as proxies give it.
    case page(status: Int)
    /// RST_STREAM. With `refusedStream` the request was surely not handled; neither was it with any other code here.
    case resetStream(HTTP2ErrorCode)
    case closeConnection(ClosePoint)
    /// No answer, ever.
    case silence(isDelivered: Bool)
    /// The answer comes late; other streams go on.
    case delay(Duration)
    /// This is the last request of the connection. Graceful: it and those before it are answered. Otherwise it is not
    /// handled, and the connection is closed at once.
    case goaway(reason: String?, isGraceful: Bool)
    /// Three GOAWAY frames on one connection, each leaving more out: the first names no last stream yet (RFC 9113, 6.8),
    /// the second this request, the third, a moment later, the one before it, and then the connection is closed at once.
    /// This request and those after it are not handled.
    case goaways(reason: String?)
    /// The connection of this request meets each request from this one on with this fault. Other connections
    /// work.
    case spoilConnection(GatewayFault)
    /// SETTINGS with a new limit of concurrent streams; the request itself is handled.
    case limitStreams(Int)

    /// The point in a request's life at which the connection breaks.
    package enum ClosePoint: Equatable, Sendable {
        /// The request is not handled.
        case beforeDelivery
        /// Delivered, and the sender does not hear of it.
        case beforeAnswer
        case afterAnswer
    }
}

/// Which requests meet with a fault.
package struct FaultRule: Sendable {
    package enum Condition: Equatable, Sendable {
        case always
        case deviceToken(String)
        /// Each n-th of those that the rule sees.
        case every(Int)
        /// 0 to 1, by the script's seed.
        case probability(Double)
    }

    /// The kind of request that the rule sees.
    package enum Subject: Equatable, Sendable {
        case push
        case token
    }

    let condition: Condition
    let subject: Subject
    let fault: GatewayFault
    private var timesLeft: Int?
    private var seen = 0

    /// Makes a rule for a fault.
    ///
    /// - Parameter times: how often the rule strikes; `nil`: for ever.
    package init(
        _ fault: GatewayFault, when condition: Condition = .always, on subject: Subject = .push,
        times: Int? = nil
    ) {
        self.condition = condition
        self.subject = subject
        self.fault = fault
        timesLeft = times
    }

    mutating func strikes(_ subject: Subject, _ deviceToken: String?, using random: inout SplitMix)
        -> Bool
    {
        guard subject == self.subject, timesLeft != 0 else { return false }
        seen += 1
        let isStruck =
            switch condition {
            case .always: true
            case .deviceToken(let token): token == deviceToken
            case .every(let count): seen.isMultiple(of: count)
            case .probability(let share): Double.random(in: 0..<1, using: &random) < share
            }
        if isStruck { timesLeft = timesLeft.map { $0 - 1 } }
        return isStruck
    }
}

/// The faults of a simulated gateway: the first rule that strikes decides. One seed replays a run.
package struct FaultScript: Sendable {
    private var rules: [FaultRule]
    private var random: SplitMix

    package init(_ rules: [FaultRule] = [], seed: UInt64 = 1) {
        self.rules = rules
        random = SplitMix(seed: seed)
    }

    mutating func fault(for subject: FaultRule.Subject, deviceToken: String?) -> GatewayFault? {
        for index in rules.indices where rules[index].strikes(subject, deviceToken, using: &random) {
            return rules[index].fault
        }
        return nil
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
