import Lab

/// Faults of a simulated gateway in words, as they are handed from the driver to the gateway's process:
/// `goaway/100` strikes every 100th request, `unavailable/5%` one in twenty by chance, `slow=5` (milliseconds) always. `spoil/60` strikes once: from then on one
/// connection only fails.
struct FaultWords: Equatable, Sendable {
    /// Separated by commas; empty: no faults.
    var text: String

    static let none = FaultWords(text: "")

    /// What rounds choose from, for each gateway by itself.
    static let mixes: [FaultWords] = [
        "", "slow=20", "goaway/7,slow=5", "abrupt/11,slow=3", "reset/13,slow=3", "cut/9,slow=3", "late/9",
        "unavailable/5%", "refused/3", "internal/6", "shrink=1/5,slow=3", "page/9", "busy/8%",
        "silent/40,swallow/60,slow=3",
        "spoil/60", "spoilreset/40,slow=3", "spoilrefused/50",
        "page=404/7", "page=302/9,text=404/11", "page=400/13,page=401/17,page=410/19,page=413/23",
        "goaway/31,reset/37,cut/41,unavailable/3%,refused/23,shrink=2/29,late/43,swallow/97,silent/89,slow=5",
    ].map(FaultWords.init(text:))

    var isSilent: Bool { text.contains("silent") || text.contains("swallow") }

    /// Google wants nothing for ten seconds after a 5xx.
    var makesGoogleWait: Bool {
        ["unavailable", "page", "text", "spoil"].contains(where: text.contains)
    }

    /// A device that both gateways call dead, whatever else they do.
    static let deadAtApple = String(repeating: "dead", count: 16)
    static let deadAtGoogle = "dead:" + String(repeating: "dead", count: 16)

    /// - Throws: the first word that says nothing.
    func script(seed: UInt64) throws(UnknownFault) -> FaultScript {
        var rules = [
            FaultRule(
                .answer(status: 410, reason: "Unregistered"), when: .deviceToken(FaultWords.deadAtApple)),
            FaultRule(
                .answer(status: 404, reason: "UNREGISTERED"), when: .deviceToken(FaultWords.deadAtGoogle)),
        ]
        for word in text.split(separator: ",") {
            if word.hasPrefix("poison=") {
                rules += (0..<(Int(word.dropFirst(7)) ?? 0)).flatMap(FaultWords.poison)
            } else {
                rules.append(try FaultWords.rule(word))
            }
        }
        return FaultScript(rules, seed: seed)
    }

    /// A device of all gateways that each of them always calls itself unavailable to: `poison=20` are twenty of them.
    static func poisoned(_ number: Int) -> String {
        let digits = String(number)
        return "bad" + String(repeating: "0", count: 61 - digits.count) + digits
    }

    private static func poison(_ number: Int) -> [FaultRule] {
        let name = poisoned(number)
        return [name, "lab:" + name, "/wpush/v2/" + name].map {
            FaultRule(.answer(status: 503, reason: "ServiceUnavailable"), when: .deviceToken($0))
        }
    }

    struct UnknownFault: Error { let word: String }

    private static func rule(_ word: Substring) throws(UnknownFault) -> FaultRule {
        let parts = word.split(separator: "/", maxSplits: 1)
        let name = parts[0].split(separator: "=", maxSplits: 1)
        let value = name.count > 1 ? Int(name[1]) ?? 0 : 0
        guard let fault = fault(String(name[0]), value) else { throw UnknownFault(word: String(word)) }
        guard parts.count > 1 else { return FaultRule(fault) }
        if parts[1].hasSuffix("%"), let share = Double(parts[1].dropLast()) {
            return FaultRule(fault, when: .probability(share / 100))
        }
        guard let every = Int(parts[1]), every > 0 else { throw UnknownFault(word: String(word)) }
        let strikesOnce = if case .spoilConnection = fault { true } else { false }
        return FaultRule(fault, when: .every(every), times: strikesOnce ? 1 : nil)
    }

    private static func fault(_ name: String, _ value: Int) -> GatewayFault? {
        switch name {
        case "goaway": .goaway(reason: nil, isGraceful: true)
        case "abrupt": .goaway(reason: "Shutdown", isGraceful: false)
        case "reset": .closeConnection(.beforeDelivery)
        case "cut": .closeConnection(.beforeAnswer)
        case "late": .closeConnection(.afterAnswer)
        case "unavailable": .answer(status: 503, reason: "ServiceUnavailable")
        case "forbidden": .answer(status: 403, reason: "InvalidProviderToken")
        case "unauthenticated": .answer(status: 401, reason: "UNAUTHENTICATED")
        case "busy": .answer(status: 429, reason: "TooManyRequests", retryAfter: "1")
        // What a proxy in the service's place says: nobody is dead by that, and nothing is refused.
        case "page": .page(status: value == 0 ? 502 : value)
        case "text": .text(status: value, "404 page not found\n")
        case "refused": .resetStream(.refusedStream)
        case "internal": .resetStream(.internalError)
        case "silent": .silence(isDelivered: false)
        case "swallow": .silence(isDelivered: true)
        case "shrink": .limitStreams(value)
        case "spoil": .spoilConnection(.answer(status: 503, reason: "ServiceUnavailable"))
        case "spoilreset": .spoilConnection(.resetStream(.internalError))
        case "spoilrefused": .spoilConnection(.resetStream(.refusedStream))
        case "slow": .delay(.milliseconds(value))
        case _: nil
        }
    }
}
