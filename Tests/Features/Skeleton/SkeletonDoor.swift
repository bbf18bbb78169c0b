import Dispatching
import Doors
import Encodings
import HTTP1
import Reactor
import Relay

/// The skeleton of a door for other senders than Bisq's: `POST /skeleton/push`.
///
/// A door reads a request, makes a ``Submission`` of it, and says to its sender what became of it, in the words of its
/// protocol. It stores nothing, knows no push service, and decides on no notification: that is the core's.
///
/// What is done around it, and not here: ``HTTPServer`` bounds head, body and connections in size and time;
/// ``LimitedDoor`` bounds this door's requests, so that they can't take the other doors' share. `respond` is called once for
/// each request, now or later; until then the connection takes no other one.
@EventLoop
final class SkeletonDoor: HTTPDoor {
    private let settings: SkeletonDoorSettings
    private let dispatcher: Dispatcher
    private let counter: DoorCounter
    private let deadlines: OutcomeDeadlines

    init(settings: SkeletonDoorSettings, dispatcher: Dispatcher) {
        self.settings = settings
        self.dispatcher = dispatcher
        // The name under which metrics and the status page count this door.
        counter = dispatcher.door("skeleton")
        deadlines = OutcomeDeadlines(after: settings.outcomeDeadline)
    }

    /// Claims whole paths only: no two doors of one place may claim the same. A path may be as long as the head allows, so
    /// it is compared, and put into no table.
    func handler(for path: String) -> HTTPServer.Handler? {
        guard path.hasSameBytes(as: "/skeleton/push") else { return nil }
        return { [self] in push($0, $1) }
    }

    /// A node that restarts keeps nobody waiting for a gateway.
    func hurry() { deadlines.hurry() }

    private func push(_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        var submission: Submission
        do throws(SkeletonMessage.Fault) {
            submission = try SkeletonMessage(request).submission(to: settings)
        } catch {
            counter.count("refused")
            return respond(HTTPResponse(status: 400, text: error.text))
        }
        // Whose share of the node it uses. Without it a stranger would count as the node itself.
        submission.sender = request.senderID
        let wait = OutcomeWait(until: deadlines) { receipt, _ in
            respond(SkeletonReceipt.response(to: receipt))
        }
        // `stored` comes after the commit that makes it durable, and the end, if it comes before the deadline, behind it.
        wait.id = dispatcher.submit(submission, from: counter, awaitsOutcome: true) { wait.take($0) }
    }
}
