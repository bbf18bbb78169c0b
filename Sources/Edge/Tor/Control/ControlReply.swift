/// One whole message from tor's control port: the answer to a command, or an event (code 650).
///
/// Source: control-spec, "Replies from Tor to the controller"; forms seen with tor 0.4.9.11.
package struct ControlReply: Equatable, Sendable {
    package struct Line: Equatable, Sendable {
        /// The status code, 100 to 999. 2xx: done; 4xx and 5xx: refused; 650: an event.
        package var code: UInt16
        /// The text behind the code and its separator.
        package var text: String
        /// The lines that followed a `250+key=` line, joined by line feeds, leading dots undoubled.
        package var data: String?

        package init(code: UInt16, text: String, data: String? = nil) {
            self.code = code
            self.text = text
            self.data = data
        }
    }

    /// Never empty. The last one decides whether the command was done.
    package let lines: [Line]
    /// The circuits that it tells of, where they were asked for as such.
    let circuits: CircuitBook

    package init(_ lines: [Line]) { self.init(lines, CircuitBook()) }

    init(_ lines: [Line], _ circuits: CircuitBook) {
        precondition(!lines.isEmpty, "a reply has at least one line")
        self.lines = lines
        self.circuits = circuits
    }

    package var code: UInt16 { lines[lines.count - 1].code }
    package var isEvent: Bool { lines[0].code == 650 }
    package var isDone: Bool { (200..<300).contains(code) }

    /// Returns the value of a `key=value` line, of one line or of several.
    package subscript(key: String) -> String? {
        for line in lines where line.text.hasPrefix(key) {
            let rest = line.text.dropFirst(key.count)
            guard rest.hasPrefix("=") else { continue }
            return line.data ?? String(rest.dropFirst())
        }
        return nil
    }
}

/// A fault of tor's syntax: the stream of replies can't be followed any more, so close the connection.
package enum ControlSyntaxError: Error, Equatable, Sendable {
    case lineTooLong(limit: Int)
    case replyTooLong(limit: Int)
    /// The line does not begin with three digits and a separator: another program listens there.
    case notAReplyLine
    /// A line feed without a carriage return before it.
    case bareLineFeed
    /// Lines of an event and of an answer in one message.
    case eventInsideReply
    case unfinishedQuotation
    /// A reply while no command waits for one.
    case unaskedReply
    /// The reply to this command lacks a part or has it in another form.
    case unreadableReply(to: String)
}

extension ControlSyntaxError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lineTooLong(let limit): "a line of more than \(limit) bytes"
        case .replyTooLong(let limit): "a reply of more than \(limit) bytes"
        case .notAReplyLine: "a line that is not a reply of a tor control port"
        case .bareLineFeed: "a line feed without carriage return"
        case .eventInsideReply: "an event inside a reply"
        case .unfinishedQuotation: "a quoted string without end"
        case .unaskedReply: "a reply to no command"
        case .unreadableReply(let command): "a reply to \(command) that can't be read"
        }
    }
}
