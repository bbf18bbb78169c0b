import Client
import Glibc
import JSONCoding
import Lab
import LabParts
import MailboxClients
import Reactor
import Wire

/// A reader of a mailbox, through all its processes, and what each of them has shown.
@EventLoop
final class MailboxReaderLine {
    let name: String
    private let start: () throws -> LabProgram
    private let read: (JSON) -> Shown?
    private(set) var process: LabProgram
    /// Of each process that is gone, in the order of time.
    private var past: [[Shown]] = []
    private var current: [Shown] = []
    private var readLines = 0

    typealias Shown = (id: String, title: String)

    init(
        _ name: String, start: @escaping () throws -> LabProgram,
        read: @escaping (JSON) -> Shown?
    ) throws {
        (self.name, self.start, self.read) = (name, start, read)
        process = try start()
    }

    func restart() async throws {
        await process.kill()
        past.append(present)
        (current, readLines) = ([], 0)
        process = try start()
    }

    /// Of the process that runs.
    private var present: [Shown] {
        for line in process.lines[readLines...] where line.hasPrefix("{") {
            if let json = try? JSON(Array(line.utf8)), let shown = read(json) { current.append(shown) }
        }
        readLines = process.lines.count
        return current
    }

    private var shown: [[Shown]] { past + [present] }

    /// What it has seen: the first of each id.
    var titles: [String] {
        var ids: Set<String> = []
        return shown.joined().filter { ids.insert($0.id).inserted }.map(\.title)
    }

    /// Messages that a killed process had shown without noting it.
    var shownAgain: Int { shown.joined().count - Set(shown.joined().map(\.id)).count }

    /// What it should not have done.
    var violations: [String] {
        var violations: [String] = []
        var last = ""
        var seen: Set<String> = []
        for (number, messages) in shown.enumerated() {
            for (index, message) in messages.enumerated() {
                guard seen.insert(message.id).inserted else {
                    if number == 0 || index > 0 {
                        violations.append("\(name) showed \(message.title) twice without a kill between")
                    }
                    continue
                }
                if message.title <= last {
                    violations.append("\(name) showed \(message.title) after \(last)")
                }
                last = message.title
            }
        }
        return violations
    }

    /// `onionbell receive`.
    static func own(mailbox: String, file: String, socks: Endpoint) throws -> MailboxReaderLine {
        try MailboxReaderLine(
            "receive",
            start: {
                try LabReader(
                    Chaos.program, file: file,
                    arguments: ["--mailbox", mailbox, "--reader", "phone", "--socks", "\(socks)"])
            },
            read: { json in
                guard let id = json["id"]?.string, let title = json["title"]?.string else { return nil }
                return (id, title)
            })
    }

    /// `nil`: aiontfy is not installed.
    ///
    /// - Parameters:
    ///   - token: a file; what was seen lies beside it.
    ///   - isJSON: whether it reads lines in place of a WebSocket.
    static func aiontfy(
        url: String, token: String, socks: Endpoint, phone: PairingToken, root: String, isJSON: Bool
    ) throws -> MailboxReaderLine? {
        let packages = root + "/.build/python"
        guard access(packages + "/aiontfy", R_OK) == 0 else { return nil }
        return try MailboxReaderLine(
            isJSON ? "JSON lines" : "aiontfy",
            start: {
                try LabProgram([
                    "/bin/sh", "-c",
                    """
                    PYTHONPATH="$0" exec /usr/bin/python3 -B "$1" "$2" --socks "$3" --seen "$4.seen" $5 <"$4"
                    """,
                    packages, root + "/Deploy/examples/ntfy-reader.py", url, "\(socks)", token,
                    isJSON ? "--json" : "",
                ])
            },
            read: { json in
                guard let id = json["id"]?.string, let text = json["message"]?.string,
                    let message = try? ReceivedMessage(opening: text, with: phone)
                else { return nil }
                return (id, message.title)
            })
    }
}
