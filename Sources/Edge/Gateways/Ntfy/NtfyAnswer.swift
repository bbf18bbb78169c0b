import Encodings
import JSONCoding
import Relay

/// Reads the answers of an ntfy server. An error is JSON with `http`, the status, with `code`, which has two digits more,
/// and with `error`, a text (`server/errors.go`); what was taken comes back as the message's event.
enum NtfyAnswer {
    /// The pause after too many requests: a visitor has 60, then one each five seconds.
    private static let pause: Duration = .seconds(10)
    /// The pause when the messages of a day are used up.
    private static let dayPause: Duration = .seconds(3600)
    private static let dayIsOver: Int64 = 42908
    private static let limits: ClosedRange<Int64> = 42900...42999

    /// Returns the code of an ntfy server's own error; `nil` for any other answer.
    static func errorCode(_ document: JSON?, of answer: GatewayAnswer) -> Int64? {
        let status = Int64(answer.status)
        guard let code = document?["code"]?.integer, code / 100 == status,
            document?["http"]?.integer == status, document?["error"]?.string != nil
        else { return nil }
        return code
    }

    static func verdict(_ answer: GatewayAnswer) -> Verdict {
        let document = try? JSON(answer.body)
        let reason = answer.statusWord
        let code = errorCode(document, of: answer)
        let isSigned = code != nil
        let author = AnswerAuthor(of: answer, isSigned: isSigned)
        switch answer.status {
        case 200..<300:
            let isMessage = document?["event"]?.string == "message" && document?["id"]?.string != nil
            return isMessage ? Verdict(outcome: .accepted) : .between(answer)
        // A redirect is never followed: the operator has to name its end.
        case 300..<400: return .blocked(reason)
        // The server wants a token, or another one; or it is no ntfy server.
        case 401, 403, 404, 405:
            return isSigned || answer.body.isEmpty ? .blocked(reason) : .between(answer)
        case 400..<500 where author == .between: return .between(answer)
        case 429:
            // Which of its limits it is says only the code.
            let word = code.flatMap { limits.contains($0) ? "Ntfy\($0)" : nil } ?? reason
            return .deferred(
                word, .host, after: answer.retryAfter ?? (code == dayIsOver ? dayPause : pause))
        case 408: return .deferred(reason, .device, after: answer.retryAfter)
        // Whatever ntfy refuses, it says why.
        case 400..<500:
            return isSigned
                ? .refused(reason, .ownFault) : .deferred(reason, .host, after: answer.retryAfter ?? pause)
        // A topic that nobody has subscribed to, where the server insists on that.
        case 507: return .deferred(reason, .device, after: answer.retryAfter)
        case _: return .deferred(reason, .host, after: answer.retryAfter ?? pause)
        }
    }
}
