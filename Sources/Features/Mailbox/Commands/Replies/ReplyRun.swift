import Client
import Clocks
import Glibc
import JSONCoding
import MailboxClients
import Processes
import Reactor
import Terminal
import Tor
import Wire

/// The options of `onionbell reply`.
struct ReplyRunSettings {
    var place: MailboxURL
    var pairingToken: PairingToken
    var tor: WatchTor.Source
    /// The longest time until the node has the reply; and again until Bisq's agent has answered.
    var deadline: Duration
    var isJSON: Bool
}

/// The phone's end of the way back: leaves one reply with the node, and hears what became of it.
@EventLoop
final class ReplyRun {
    private let settings: ReplyRunSettings
    private let line: ReplyLine
    private var backoff = Backoff(first: .seconds(1), longest: .seconds(20))

    private static let wait = 20

    init(_ settings: ReplyRunSettings) {
        self.settings = settings
        line = ReplyLine(to: settings.place, by: settings.tor, deadline: settings.deadline)
    }

    /// Sends a reply, and returns the exit status.
    func send(_ kind: String, _ text: String, countedIn path: String) async -> Int32 {
        let token = settings.pairingToken
        let reply: PhoneReply
        let sealed: [UInt8]
        do throws(ReplyCounterFile.Fault) {
            guard let next = try ReplyRun.next(kind, text, to: token, countedIn: path),
                let bytes = try? ReplyChannel(.toBisq, of: token).seal(next)
            else { return fail("the reply can't be made", status: 65).rawValue }
            (reply, sealed) = (next, bytes)
        } catch {
            return fail(error, status: error.exitStatus).rawValue
        }
        let status = await deliver(sealed, for: reply)
        await line.tor.stop()
        return status
    }

    /// Makes the next reply. Its counter is on the disk before it is used.
    private static func next(
        _ kind: String, _ text: String, to token: PairingToken, countedIn path: String
    ) throws(ReplyCounterFile.Fault) -> PhoneReply? {
        let (file, known) = try ReplyCounterFile.open(path, for: ReplyChannel(.toBisq, of: token))
        let now = EventLoop.unixMilliseconds
        let counter = ReplyWindow.counter(after: known?.counter ?? 0, at: now)
        try file.write(ReplyWindow(counter: counter, since: 0))
        return PhoneReply(counter: counter, sentAt: now, kind: kind, text: text)
    }

    private func deliver(_ sealed: [UInt8], for reply: PhoneReply) async -> Int32 {
        let token = settings.pairingToken
        let outward = ReplyCalls(ReplyChannel(.toBisq, of: token), of: token)
        var end = EventLoop.now + settings.deadline
        var mayBeTaken = false
        while true {
            do throws(ReplyLine.Fault) {
                try await line.post(sealed, by: outward)
                break
            } catch {
                // The same bytes again: the node holds them once.
                if case .unanswered = error { mayBeTaken = true }
                guard !error.isFinal(hasConnected: false), EventLoop.now < end else {
                    if mayBeTaken { return fail(error, status: 3).rawValue }
                    if case .notReached = error { return fail(error, status: 69).rawValue }
                    return fail(error, status: 1).rawValue
                }
                await pause()
            }
        }
        printProgress("the node has it; waiting for Bisq's agent")
        end = EventLoop.now + settings.deadline
        let back = ReplyChannel(.toPhone(answering: reply.counter), of: token)
        let inward = ReplyCalls(back, of: token)
        var acknowledged: Int64 = 0
        while EventLoop.now < end {
            let rest = (end - EventLoop.now).nanoseconds / 1_000_000_000 + 1
            let asked = EventLoop.now
            do throws(ReplyLine.Fault) {
                let answers = try await line.replies(
                    by: inward, acknowledging: acknowledged, waiting: min(Int(rest), ReplyRun.wait))
                acknowledged = answers.last?.number ?? acknowledged
                for (number, bytes) in answers {
                    guard let opened = try? back.open(bytes),
                        let answer = ReplyAgent.Answer(opened, to: reply.counter)
                    else { continue }
                    let status = tell(answer, of: reply)
                    await line.acknowledge(number, by: inward)
                    return status
                }
                // Others wait at this mailbox too, or the node stops; or what came is not the agent's.
                let lasted = EventLoop.now - asked
                if lasted < .seconds(5) { await pause() }
            } catch {
                await pause()
            }
        }
        return fail(
            "the node has the reply, but Bisq's agent has not said what became of it: does it run, and are both clocks right?",
            status: 3
        ).rawValue
    }

    private func tell(_ answer: ReplyAgent.Answer, of reply: PhoneReply) -> Int32 {
        if settings.isJSON {
            let json: JSON = ["reply": .string(reply.kind), "answer": .string(answer.rawValue)]
            printLine(json.text)
        } else {
            switch answer {
            case .done: printLine("done")
            case .failed: printError("onionbell: the program for \(reply.kind) failed")
            case .unknown: printError("onionbell: nothing is configured for \(reply.kind)")
            }
        }
        return answer == .done ? EXIT_SUCCESS : 1
    }

    private func pause() async {
        var random = SystemRandomNumberGenerator()
        try? await Task.sleep(for: backoff.next(using: &random))
    }
}
