import ArgumentParser
import Client
import Glibc
import JSONCoding
import MailboxClients
import Processes
import Reactor
import Terminal

/// The text that `--notify` shows.
enum NotifyForm: String, CaseIterable, ExpressibleByArgument {
    /// A fixed text for each kind.
    case bell
    /// Title and text, which other users of this machine can see for a moment among the arguments of processes.
    case text
}

/// The places where messages are shown: on standard output, by `notify-send`, to a command.
@EventLoop
final class MessageScreen {
    private let isJSON: Bool
    private let exec: String?
    private let notify: NotifyForm?
    private let program: LimitedProgram

    nonisolated init(isJSON: Bool, exec: String?, limit: Duration, notify: NotifyForm?) {
        (self.isJSON, self.exec, self.notify) = (isJSON, exec, notify)
        program = LimitedProgram(limit: limit)
    }

    /// Shows a message, and returns false when standard output takes no more.
    func show(_ entry: MailboxBook.Entry) async -> Bool {
        if entry.message.kind == .erase, !isJSON, isatty(STDOUT_FILENO) == 1 {
            // The screen, and what has scrolled out of it.
            printText("\u{1b}[H\u{1b}[2J\u{1b}[3J")
        }
        guard printText(isJSON ? entry.json.text + "\n" : MessageScreen.text(of: entry)) else { return false }
        await notify(of: entry.message)
        await run(for: entry)
        return true
    }

    /// Shows a note that does not open with the key.
    func showUnreadable(_ note: MailboxNote, _ fault: PhoneError) async -> Bool {
        let reason = "\(fault)"
        guard isJSON else {
            printError("onionbell: a message of \(MessageScreen.time(note.time)) can't be shown: \(reason)")
            return true
        }
        let json: JSON = [
            "id": .string(note.id), "time": .integer(note.time), "kind": "UNREADABLE",
            "reason": .string(reason),
        ]
        return printText(json.text + "\n")
    }

    nonisolated static func text(of entry: MailboxBook.Entry) -> String {
        let message = entry.message
        let title = message.title.isEmpty ? message.kind.words : message.title
        let kind = message.kind.rawValue
        var text = "\(time(entry.time))  \(kind)  \(title)\n"
        for line in message.message.utf8.split(separator: UInt8(ascii: "\n")) {
            text += "    \(Substring(line))\n"
        }
        if !message.tradeID.isEmpty { text += "    trade \(message.tradeID)\n" }
        return text
    }

    /// Returns a time as text in the machine's time zone.
    private nonisolated static func time(_ seconds: Int64) -> String {
        var (time, parts) = (time_t(seconds), tm())
        guard localtime_r(&time, &parts) != nil else { return "\(seconds)" }
        let day = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map(twoDigits)
        return
            "\(day.joined(separator: "-")) \(twoDigits(Int(parts.tm_hour))):\(twoDigits(Int(parts.tm_min)))"
    }

    private nonisolated static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private func notify(of message: ReceivedMessage) async {
        guard let notify, message.kind != .erase else { return }
        let (title, text) =
            switch notify {
            case .bell: ("Bisq", message.kind.words)
            case .text: (message.title.isEmpty ? message.kind.words : message.title, message.message)
            }
        await finish(["notify-send", "--app-name=Onionbell", "--", title, text])
    }

    private func run(for entry: MailboxBook.Entry) async {
        guard let exec else { return }
        let message = entry.message
        let variables = [
            "ONIONBELL_ID": entry.id, "ONIONBELL_TIME": "\(entry.time)",
            "ONIONBELL_KIND": message.kind.rawValue, "ONIONBELL_TITLE": message.title,
            "ONIONBELL_MESSAGE": message.message, "ONIONBELL_TRADE": message.tradeID,
            "ONIONBELL_SENT": "\(message.sentDate)",
        ]
        await finish([exec], variables: variables)
    }

    /// Runs the program. The message counts as shown whatever becomes of the program, which has got it.
    private func finish(_ arguments: [String], variables: [String: String] = [:]) async {
        if let fault = await program.run(arguments, variables: variables) {
            printError("onionbell: \(arguments[0]): \(fault)")
        }
    }
}
