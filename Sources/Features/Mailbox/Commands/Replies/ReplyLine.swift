import Client
import HTTP1
import MailboxClients
import Reactor
import Terminal
import Wire

/// One end of the way back: calls to the node, each over a connection of its own.
@EventLoop
final class ReplyLine {
    enum Fault: Error, CustomStringConvertible {
        /// The node was not reached; another try may help.
        case notReached(String)
        /// The node did not answer, and may have done what it was asked for.
        case unanswered(String)
        case refused(NodeRefusal)

        var description: String {
            switch self {
            case .notReached(let words), .unanswered(let words): words
            case .refused(let refusal):
                switch refusal.status {
                case 401: "the node has no mailbox of this pairing token"
                case 404:
                    "nothing holds replies there: is this the ntfy address of a node, of a version that does?"
                case 507: "as many replies wait at the node as may"
                case let status: "the node refuses with status \(status)"
                }
            }
        }

        /// Whether no other try helps.
        ///
        /// - Parameter hasConnected: Whether the node was reached before.
        func isFinal(hasConnected: Bool) -> Bool {
            if case .refused(let refusal) = self {
                refusal.isFinal(hasConnected: hasConnected)
            } else {
                false
            }
        }
    }

    private let place: MailboxURL
    let tor: WatchTor
    private let deadline: Duration

    /// Makes one end of the way back.
    ///
    /// - Parameter deadline: The time for a connection, and for an answer besides the time that the node may
    ///   wait.
    init(to place: MailboxURL, by tor: WatchTor.Source, deadline: Duration) {
        self.place = place
        self.tor = WatchTor(tor)
        self.deadline = deadline
    }

    func post(_ sealed: [UInt8], by calls: ReplyCalls) async throws(Fault) {
        _ = try await answer(to: calls.post(sealed))
    }

    func replies(
        by calls: ReplyCalls, acknowledging acknowledged: Int64, waiting seconds: Int
    ) async throws(Fault) -> [(number: Int64, sealed: [UInt8])] {
        let answer = try await answer(
            to: calls.fetch(acknowledging: acknowledged, waiting: seconds), waiting: seconds)
        guard let replies = ReplyCalls.replies(in: answer) else {
            throw .notReached("what answers there does not speak as a node does")
        }
        return replies
    }

    /// Makes room for others. Without it the node forgets after ten minutes.
    func acknowledge(_ number: Int64, by calls: ReplyCalls) async {
        let request = calls.fetch(acknowledging: number, waiting: 0)
        _ = try? await answer(to: request, within: min(deadline, .seconds(10)))
    }

    private func answer(
        to request: HTTPRequest, waiting seconds: Int = 0, within time: Duration? = nil
    ) async throws(Fault) -> HTTPResponse {
        let answer: HTTPResponse
        do {
            answer = try await HTTPExchange.answer(
                to: request, host: place.host, by: try await tor.route(to: place.node),
                deadline: (time ?? deadline) + .seconds(seconds))
        } catch let error as HTTPExchangeError where error.mayBeTaken {
            throw .unanswered("\(error)")
        } catch {
            throw .notReached("\(error)")
        }
        guard answer.status == 200 else { throw .refused(NodeRefusal(answer)) }
        return answer
    }
}
