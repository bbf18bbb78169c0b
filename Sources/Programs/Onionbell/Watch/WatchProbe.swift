import Client
import Crypto
import Encodings
import Gateways
import Glibc
import Node
import Reactor
import Relay
import Wire

/// The result of one look at a node from outside.
struct WatchResult: Equatable {
    enum Verdict: String {
        case well
        /// The node answered, and the notification did not go its way.
        case failing
        /// The node can't be reached.
        case unreachable
        /// The node has no room just now.
        case busy
    }

    var verdict: Verdict
    /// The result in a sentence, without its end.
    var words: String

    var exitStatus: Int32 {
        switch verdict {
        case .well: 0
        case .failing: 1
        case .unreachable: 69
        case .busy: 75
        }
    }

    /// Judges the node's answers to a notification for nobody.
    ///
    /// Only the push service can find that nobody has the token, and it looks at the token last: its word for that
    /// proves the door, the outbox, the connection, the credentials and the topic.
    ///
    /// - Parameters:
    ///   - receipt: the first answer.
    ///   - outcome: the second; `nil`: none in time.
    static func judge(
        receipt: MobileNotificationResponse, outcome: MobileNotificationResponse?
    ) -> WatchResult {
        switch receipt.status {
        case .busy: return WatchResult(verdict: .busy, words: receipt.words)
        case .stored: break
        case .delivered: return WatchResult(verdict: .well, words: "delivered")
        case .refused where receipt.reason == Reason.notInPhoneBook.code:
            return WatchResult(
                verdict: .well,
                words: "the node answers; it rings only its own phones, so the delivery was not tested")
        case .refused, .tokenDead, .expired, nil:
            return WatchResult(verdict: .failing, words: "the node did not accept it: \(receipt.words)")
        }
        guard let outcome else {
            return WatchResult(
                verdict: .failing,
                words: "stored, but not delivered in time: the gateway is down, or the app is blocked")
        }
        switch outcome.status {
        case .delivered: return WatchResult(verdict: .well, words: "stored, then delivered")
        case .refused where tokenWords.contains(outcome.reason),
            .tokenDead where tokenWords.contains(outcome.reason):
            return WatchResult(
                verdict: .well,
                words:
                    "stored, then sent to the push service, which answered that the device does not exist: \(outcome.reason)"
            )
        case .refused where relayWords.contains(outcome.reason):
            return WatchResult(
                verdict: .well,
                words:
                    "stored, then sent to another relay, which refused it and gave no reason: \(outcome.reason)"
            )
        case .refused, .tokenDead, .expired, .busy, .stored, nil:
            return WatchResult(verdict: .failing, words: "stored, then \(outcome.words)")
        }
    }

    /// The push services' words for a token that nobody has.
    private static let tokenWords = Features.built.pushServices.flatMap { $0.wordsOfNobody }
    private static let relayWords = RelayApp.wordsWithoutReason
}

/// Sends a node a notification that goes all the way to the push service and reaches nobody.
@EventLoop
struct WatchProbe {
    var route: PeerRoute
    var network: BisqNetwork
    var platform: Platform
    var app: String
    /// The longest time for the connection, and again for each answer.
    var deadline: Duration

    func run() async -> WatchResult {
        do {
            let peer = try await BisqPeer.dial(route, network: network, deadline: deadline)
            defer { peer.close() }
            let request = request()
            let receipt = try await peer.send(request, deadline: deadline)
            guard receipt.status == .stored else { return .judge(receipt: receipt, outcome: nil) }
            let outcome = try? await peer.nextResponse(to: request.uid, deadline: deadline)
            return .judge(receipt: receipt, outcome: outcome)
        } catch {
            return WatchResult(
                verdict: (error as? PeerError)?.isFinal == true ? .failing : .unreachable, words: "\(error)")
        }
    }

    private func request() -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        request.uid = "watch-" + Hex.encode(randomBytes(16))
        request.platform = platform
        request.app = app
        request.deviceToken = (platform == .android ? DeviceToken.opaqueOfNobody : .hexadecimalOfNobody).text
        request.message = Base64.encode(randomBytes(48))
        request.expiresAt = EventLoop.unixMilliseconds + 600_000
        request.awaitsOutcome = true
        return request
    }
}

/// The state by which a watch that goes on raises and ends its alarm.
struct WatchState: Equatable {
    /// Failures in a row that raise it: a single one may be Tor's.
    let failuresToAlarm: Int
    private(set) var failures = 0
    /// Whether things are well: failing only after ``failuresToAlarm`` failures in a row. `nil` until a
    /// verdict has decided.
    private(set) var isWell: Bool?

    init(failuresToAlarm: Int) { self.failuresToAlarm = failuresToAlarm }

    /// Notes a verdict, and returns whether things have changed, from well to failing or back.
    mutating func note(isWell: Bool) -> Bool {
        failures = isWell ? 0 : failures + 1
        guard isWell || failures >= failuresToAlarm, self.isWell != isWell else { return false }
        defer { self.isWell = isWell }
        // That all is well in the beginning is no news.
        return self.isWell != nil || !isWell
    }
}
