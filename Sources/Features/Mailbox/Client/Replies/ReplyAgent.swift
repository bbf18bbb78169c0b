import Client
import Wire

/// The decisions of Bisq's agent about replies: which are acted upon, and which answer the phone gets.
package struct ReplyAgent: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// The reply is to be acted upon, once the window is on the disk.
        case act(PhoneReply)
        /// Nothing is configured for the reply's kind.
        case unknown(PhoneReply)
        /// The reply is neither acted upon nor answered: it may be anybody's.
        case drop(ReplyFault)
    }

    /// The answer to the phone, as the kind of a reply whose text is the counter of the phone's.
    package enum Answer: String, CaseIterable, Sendable {
        case done
        case failed
        case unknown

        /// Reads the answer to a phone's reply; `nil`: it is about another one.
        package init?(_ reply: PhoneReply, to counter: Int64) {
            guard reply.text == "\(counter)" else { return nil }
            self.init(rawValue: reply.kind)
        }
    }

    package private(set) var window: ReplyWindow
    private let kinds: Set<String>
    private let toBisq: ReplyChannel
    private let token: PairingToken

    /// Makes an agent. `kinds` are those for which something is configured.
    package init(_ token: PairingToken, kinds: Set<String>, window: ReplyWindow) {
        self.kinds = kinds
        self.window = window
        toBisq = ReplyChannel(.toBisq, of: token)
        self.token = token
    }

    /// Returns the verdict on a reply at this time, in milliseconds since 1970.
    package mutating func verdict(on sealed: [UInt8], at now: Int64) -> Verdict {
        do throws(ReplyFault) {
            let reply = try toBisq.open(sealed)
            try window.take(reply, at: now)
            return kinds.contains(reply.kind) ? .act(reply) : .unknown(reply)
        } catch {
            return .drop(error)
        }
    }

    /// Returns the sealed answer to the phone, and its channel.
    package func sealed(
        _ answer: Answer, to reply: PhoneReply, at now: Int64
    ) -> (sealed: [UInt8], channel: ReplyChannel)? {
        let channel = ReplyChannel(.toPhone(answering: reply.counter), of: token)
        return PhoneReply(
            counter: reply.counter, sentAt: now, kind: answer.rawValue, text: "\(reply.counter)"
        ).flatMap { try? channel.seal($0) }.map { ($0, channel) }
    }
}
