import Lab

/// What is done to the world in one round.
enum Blow: String, CaseIterable {
    case none = "faults only"
    case node = "kill node"
    case nodeTwice = "kill node twice"
    case gateway = "kill gateway"
    case tor = "kill tor"
    case nodeAndGateway = "kill both"
    case stop = "SIGTERM node"
    case inPlace = "restart in place"
    case file = "outbox deleted"

    /// Of 23 rounds on average.
    private var weight: Int {
        switch self {
        case .none: 2
        case .node: 7
        case .nodeTwice: 3
        case .gateway: 3
        case .tor: 2
        case .nodeAndGateway, .inPlace: 2
        case .stop, .file: 1
        }
    }

    static func random(using random: inout SplitMix) -> Blow {
        var number = Int.random(in: 0..<allCases.reduce(0) { $0 + $1.weight }, using: &random)
        for blow in allCases {
            number -= blow.weight
            if number < 0 { return blow }
        }
        return .none
    }

    var hitsNode: Bool { [.node, .nodeTwice, .nodeAndGateway, .stop].contains(self) }
    var hitsGateway: Bool { [.gateway, .nodeAndGateway].contains(self) }
}

/// One round, by the seed.
struct Round {
    let blow: Blow
    let apple: FaultWords
    let google: FaultWords
    /// Of each push service of browsers.
    let web: [FaultWords]
    let seed: UInt64
    /// From the first notification of the round to the blow.
    let instant: Duration
    /// How long what was killed stays away.
    let absence: Duration
    /// From its start to the second blow.
    let secondInstant: Duration
    /// Notifications of each sender.
    let count: Int

    init(isQuick: Bool, using random: inout SplitMix) {
        let mixes = FaultWords.mixes.filter { !isQuick || !$0.isSilent }
        blow = Blow.random(using: &random)
        apple = mixes.randomElement(using: &random) ?? .none
        google = mixes.randomElement(using: &random) ?? .none
        web = GatewayFiles.manners.map { _ in mixes.randomElement(using: &random) ?? .none }
        seed = random.next()
        instant = .milliseconds(Int.random(in: 0...250, using: &random))
        absence = .milliseconds(Int.random(in: 0...200, using: &random))
        secondInstant = .milliseconds(Int.random(in: 0...900, using: &random))
        count = Int.random(in: 2...12, using: &random)
    }
}
