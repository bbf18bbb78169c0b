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

/// The options of `onionbell bisq-agent`.
struct BisqAgentSettings {
    var place: MailboxURL
    var pairingToken: PairingToken
    var tor: WatchTor.Source
    /// The programs by the kinds of replies.
    var programs: [String: String]
    /// The time limit for one program.
    var limit: Duration
    /// Whether to handle the replies that wait, and end.
    var isOnce: Bool
    var deadline: Duration
    var isJSON: Bool
}

/// Fetches what a phone replies until it is stopped, and runs what is configured for it.
@EventLoop
final class BisqAgentRun {
    private let settings: BisqAgentSettings
    private let file: ReplyCounterFile
    private let line: ReplyLine
    private let program: LimitedProgram
    private let inward: ReplyCalls
    private var agent: ReplyAgent
    private let attempts = AttemptLoop()
    private var isBusy = false
    private var hasConnected = false

    /// Seconds: less than proxies wait for an answer.
    private static let wait = 50

    init(_ settings: BisqAgentSettings, file: ReplyCounterFile, window: ReplyWindow) {
        (self.settings, self.file) = (settings, file)
        let token = settings.pairingToken
        line = ReplyLine(to: settings.place, by: settings.tor, deadline: settings.deadline)
        program = LimitedProgram(limit: settings.limit)
        inward = ReplyCalls(ReplyChannel(.toBisq, of: token), of: token)
        agent = ReplyAgent(token, kinds: Set(settings.programs.keys), window: window)
    }

    /// Handles the phone's replies until it is told to stop, or can't go on. Returns the exit status.
    /// A program that runs ends before this run does.
    func run() async -> Int32 {
        await attempts.run(by: line.tor, finishing: { [unowned self] in isBusy }, handle)
    }

    private func handle() async -> Int32 {
        var acknowledged: Int64 = 0
        var status = EXIT_SUCCESS
        // None at first: whether the node is there shows at once.
        var wait = 0
        while !attempts.isStopping {
            do throws(ReplyLine.Fault) {
                let asked = EventLoop.now
                let replies = try await line.replies(
                    by: inward, acknowledging: acknowledged, waiting: wait)
                attempts.tell("connected")
                hasConnected = true
                if replies.isEmpty {
                    if settings.isOnce { break }
                    // Others wait at this channel too, or the node stops.
                    let lasted = EventLoop.now - asked
                    if wait > 0, lasted < .seconds(5) { await attempts.pause() } else { attempts.reset() }
                } else {
                    attempts.reset()
                }
                guard await take(replies) else {
                    status = 74
                    break
                }
                acknowledged = replies.last?.number ?? acknowledged
                wait = settings.isOnce ? 0 : BisqAgentRun.wait
            } catch {
                let isFinal = error.isFinal(hasConnected: hasConnected)
                if settings.isOnce || isFinal {
                    status = fail(error, status: isFinal ? 1 : 69).rawValue
                    break
                }
                attempts.tell("\(error); trying again")
                wait = 0
                await attempts.pause()
            }
        }
        return status
    }

    // MARK: Replies

    /// Handles replies. Returns false when the counter can't be kept: nothing is run then.
    private func take(_ replies: [(number: Int64, sealed: [UInt8])]) async -> Bool {
        isBusy = true
        defer { isBusy = false }
        for (_, sealed) in replies where !attempts.isStopping {
            let verdict = agent.verdict(on: sealed, at: EventLoop.unixMilliseconds)
            if case .drop(let fault) = verdict {
                show(refused: fault)
                continue
            }
            do throws(ReplyCounterFile.Fault) {
                try file.write(agent.window)
            } catch {
                printError("onionbell: \(error); nothing was run")
                return false
            }
            switch verdict {
            case .drop: break
            case .unknown(let reply): await answer(.unknown, to: reply)
            case .act(let reply): await answer(await run(reply), to: reply)
            }
        }
        return true
    }

    private func run(_ reply: PhoneReply) async -> ReplyAgent.Answer {
        guard let path = settings.programs[reply.kind] else { return .unknown }
        let fault = await program.run(
            [path],
            variables: [
                "ONIONBELL_REPLY": reply.kind, "ONIONBELL_REPLY_TEXT": reply.text,
                "ONIONBELL_REPLY_SENT": "\(reply.sentAt)", "ONIONBELL_REPLY_COUNTER": "\(reply.counter)",
            ])
        if let fault { printError("onionbell: \(path): \(fault)") }
        return fault == nil ? .done : .failed
    }

    /// Shows an answer and sends it to the phone, which waits for it; nothing depends on it.
    private func answer(_ answer: ReplyAgent.Answer, to reply: PhoneReply) async {
        show(answer, reply)
        guard let (sealed, channel) = agent.sealed(answer, to: reply, at: EventLoop.unixMilliseconds)
        else { return }
        do throws(ReplyLine.Fault) {
            try await line.post(sealed, by: ReplyCalls(channel, of: settings.pairingToken))
        } catch {
            printError("onionbell: the phone was not told: \(error)")
        }
    }

    private func show(_ answer: ReplyAgent.Answer, _ reply: PhoneReply) {
        guard settings.isJSON else {
            printLine(
                "\(reply.kind): \(answer == .unknown ? "nothing is configured for it" : answer.rawValue)")
            return
        }
        let json: JSON = [
            "kind": .string(reply.kind), "counter": .integer(reply.counter),
            "sentDate": .integer(reply.sentAt), "answer": .string(answer.rawValue),
        ]
        printLine(json.text)
    }

    private func show(refused fault: ReplyFault) {
        guard settings.isJSON else { return printError("onionbell: a reply was refused: \(fault.words)") }
        let json: JSON = ["refused": .string(fault.rawValue)]
        printLine(json.text)
    }
}

extension ReplyFault {
    fileprivate var words: String {
        switch self {
        case .notAuthentic: "it was changed, or sealed with another key"
        case .replayed: "it, or a later one, came before"
        case .expired: "it was sent more than ten minutes ago, or before this agent was there"
        case .fromTheFuture: "it was sent, or counted, later than now: one of the clocks is wrong, or was"
        }
    }
}
