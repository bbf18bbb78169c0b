import Lab

/// What is done to several nodes and their database in one round.
enum ClusterBlow: String, CaseIterable {
    case kill = "kill -9 of a node"
    case killAndStart = "kill -9 of a node, started at once"
    case killTwo = "kill -9 of all nodes but one"
    case database = "PostgreSQL stopped at once, started"
    case databaseForLong = "PostgreSQL away for 12 s"
    case both = "kill -9 of a node, PostgreSQL stopped"
    case pause = "SIGSTOP of a node past its lease"
    case silence = "node's line silent for 1 to 5 s"
    case silenceForLong = "node's line silent past its lease"
    case cut = "node's line reset, cut for 1 s"
    case answer = "answer to a commit lost"
    case stop = "SIGTERM of a node, started again"
    case inPlace = "a node restarted in place"
    case clock = "a node's clock an hour off, or three years"
    case transaction = "a node started anew while a transaction is held open"
    case setBack = "PostgreSQL back to an older backup"
    case killAsClockGoesBack = "kill -9 of a node, PostgreSQL's clock two hours back"
    case killAsClockGoesAhead = "kill -9 of a node, PostgreSQL's clock two hours ahead"
    case clockBack = "PostgreSQL's clock two hours back"
    case clockAhead = "PostgreSQL's clock two hours ahead"
    case lock = "all tables locked for 13 s"

    /// Why what a node had begun may go out again: it does not come to itself in time, or not at all.
    var isExcuse: Bool {
        switch self {
        case .kill, .killAndStart, .killTwo, .both, .pause, .silenceForLong, .databaseForLong, .setBack,
            .killAsClockGoesBack, .killAsClockGoesAhead:
            true
        case .database, .silence, .cut, .answer, .stop, .inPlace, .clock, .transaction, .clockBack,
            .clockAhead, .lock:
            false
        }
    }

    /// What was hit is left so until the others have taken its part.
    var lastsUntilOthersDeliver: Bool {
        [.kill, .killTwo, .both, .pause, .silenceForLong, .killAsClockGoesBack, .killAsClockGoesAhead]
            .contains(self)
    }

    var movesServersClock: Bool {
        [.clockBack, .clockAhead, .killAsClockGoesBack, .killAsClockGoesAhead].contains(self)
    }

    /// Each kind as often as the others, in an order that the seed makes.
    static func plan(_ rounds: Int, of blows: [ClusterBlow], using random: inout SplitMix) -> [ClusterBlow] {
        var plan: [ClusterBlow] = []
        while plan.count < rounds { plan += blows.shuffled(using: &random) }
        return Array(plan.prefix(rounds))
    }
}
