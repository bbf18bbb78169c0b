import JSONCoding
import Relay

@testable import Gateways

/// Reads the answers of the skeleton's service (name its page here): a status, and JSON with an `error`.
///
/// What each verdict does:
///
/// | verdict | the notification | beyond it |
/// | --- | --- | --- |
/// | `accepted` | has ended | |
/// | `tokenDead` | has ended | senders hear it, and so do all later ones for this device |
/// | `refused` | has ended | with `.ownFault` it is counted as our mistake |
/// | `blocked` | waits | so does the whole lane, until a person has mended something; the doctor and the log say so |
/// | `deferred(…, .device)` | is tried again | so are those behind it for the same device |
/// | `deferred(…, .host)` | is tried again | after a few of them the whole lane pauses |
/// | `throttled` | is tried again | the device is spared for a while |
///
/// When in doubt, defer: what has ended never comes back. What a proxy answers is no answer of the service:
/// ``AnswerAuthor`` tells them apart.
enum SkeletonAnswer {
    private static let pause: Duration = .seconds(10)
    /// The service's own words, all that its page has.
    private static let words = ["NoSuchDevice", "WrongProject", "TooLarge", "BadMessage"]

    static func verdict(_ answer: GatewayAnswer) -> Verdict {
        // Anything but a short plain word could be a device token, and goes nowhere.
        let document = try? JSON(answer.body)
        let reason = GatewayAnswer.word(document?["error"]?.string)
        // What its page says an answer has, no less: many programs write an `error` and a `code`.
        let isSigned =
            (200..<300).contains(answer.status)
            ? document?["push"]?.string != nil : reason.map { words.contains($0) } ?? false
        guard AnswerAuthor(of: answer, isSigned: isSigned) != .between else { return .between(answer) }
        switch answer.status {
        case 200..<300: return Verdict(outcome: .accepted)
        case 401, 403: return .blocked(reason ?? answer.statusWord)
        // Without the service's word something else may have answered.
        case 404, 410:
            return switch reason {
            case "NoSuchDevice"?: Verdict(outcome: .tokenDead(reason: "NoSuchDevice", since: nil))
            case let reason?: .refused(reason)
            case nil: .deferred(answer.statusWord, .host, after: pause)
            }
        case 429: return .throttled(reason ?? answer.statusWord, after: answer.retryAfter ?? pause)
        case 408: return .deferred(reason ?? answer.statusWord, .device, after: answer.retryAfter)
        case 400..<500: return .refused(reason ?? answer.statusWord, .ownFault)
        case _: return .deferred(reason ?? answer.statusWord, .host, after: answer.retryAfter ?? pause)
        }
    }
}
