import ArgumentParser
import Client
import Encodings
import Glibc
import Processes
import Reactor
import Wire

/// A secret that a command reads from standard input, or that somebody types or pastes at a terminal.
///
/// The terminal asks for it and shows nothing of it. A text that was copied with line breaks is put together again: its
/// further lines would otherwise go to the shell, which runs them and keeps them in its history. What else waits at the
/// terminal is dropped at the end, also after Ctrl-C and when the secret is too long.
package struct SecretInput: Sendable {
    /// The kind of the lines so far.
    package enum Part {
        /// Incomplete: the end is missing.
        case incomplete
        /// Usable, but a further line may belong to it.
        case usable
        /// Complete: no further line belongs to it.
        case complete
    }

    /// The name of what the terminal asks for.
    package let name: String
    /// Whether lines are put together, without the blanks at their ends.
    package var joinsLines = true
    package let part: @Sendable ([UInt8]) -> Part

    /// Bytes of the longest secret: a file of `onionbell mailbox add --json`.
    private static let longest = 16_384
    /// Milliseconds of silence after which no further line of the same text is to come.
    private static let silence: CInt = 500

    package init(name: String, joinsLines: Bool = true, part: @escaping @Sendable ([UInt8]) -> Part) {
        (self.name, self.joinsLines, self.part) = (name, joinsLines, part)
    }

    /// Makes an input of one line as it is.
    package static func line(_ name: String) -> SecretInput {
        SecretInput(name: name, joinsLines: false) { _ in .complete }
    }

    /// A device token can be cut anywhere, and its first half may look like a whole one.
    package static let deviceToken = SecretInput(name: "Device token") { $0.isEmpty ? .incomplete : .usable }

    package static let pairingToken = SecretInput(name: "Pairing token") { bytes in
        (try? PairingToken(String(decoding: bytes, as: UTF8.self))) == nil ? .incomplete : .usable
    }

    /// The key of a phone of Bisq 2.
    package static let key = SecretInput(name: "Key") { bytes in
        Base64.decode(String(decoding: bytes, as: UTF8.self))?.count == ConnectPhone.keyLength
            ? .complete : .incomplete
    }

    package static let pairingCode = SecretInput(name: "Pairing code") { bytes in
        (try? TrustedNodeCode(String(decoding: bytes, as: UTF8.self))) == nil ? .incomplete : .complete
    }

    /// Returns the value of an option: itself, or what is read where it is `-`.
    package func text(_ option: String) throws -> String {
        String(decoding: option == "-" ? try read() : joined(Array(option.utf8)), as: UTF8.self)
    }

    /// Reads byte by byte: what lies behind the secret is another reader's.
    package func read(from descriptor: CInt = STDIN_FILENO) throws -> [UInt8] {
        let terminal = SilentTerminal(descriptor)
        if terminal != nil { say("\(name) (not shown): ") }
        let end = collect(from: descriptor, isTerminal: terminal != nil)
        // Of what is too long more is still on its way.
        let silence: CInt = if case .tooLong = end { 2 * Self.silence } else { 100 }
        terminal?.restore(afterSilenceOf: silence)
        if terminal != nil { say("\n") }
        switch end {
        case .text(let bytes): return joined(bytes)
        case .tooLong: throw fail("the \(name.lowercased()) is longer than \(Self.longest) bytes", status: 65)
        case .interrupted:
            signal(SIGINT, SIG_DFL)
            // The threads of async commands have signals blocked.
            var interrupt = sigset_t()
            sigemptyset(&interrupt)
            sigaddset(&interrupt, SIGINT)
            pthread_sigmask(SIG_UNBLOCK, &interrupt, nil)
            raise(SIGINT)
            throw ExitCode(130)
        }
    }

    private enum End {
        case text([UInt8])
        case tooLong
        case interrupted
    }

    private func collect(from descriptor: CInt, isTerminal: Bool) -> End {
        var bytes: [UInt8] = []
        var lineStart = 0
        var isEscape = false
        var wait: CInt = -1
        while bytes.count <= Self.longest {
            guard isReadable(descriptor, within: wait) else {
                guard wait == Self.silence, isUsable(bytes, lineStart) else {
                    // Somebody looks at a terminal that shows nothing.
                    say("\n(not complete yet: paste the rest, or press Enter to end) ")
                    wait = -1
                    continue
                }
                return .text(bytes)
            }
            var byte: UInt8 = 0
            guard Glibc.read(descriptor, &byte, 1) == 1 else { return .text(bytes) }
            wait = -1
            if isTerminal {
                if isEscape || byte == 0x1b {
                    // The keys that send more than one byte, and the marks around what is pasted.
                    isEscape = byte == 0x1b || byte == UInt8(ascii: "[") || byte < UInt8(ascii: "@")
                    continue
                }
                switch byte {
                case 0x03, 0x1c: return .interrupted
                case 0x04: return .text(bytes)
                case 0x08, 0x7f:
                    while bytes.count > lineStart, bytes.removeLast() & 0xc0 == 0x80 {}
                    continue
                case 0x15:
                    bytes.removeSubrange(lineStart...)
                    continue
                default: break
                }
            }
            bytes.append(byte)
            guard byte == UInt8(ascii: "\n") else { continue }
            let part = part(joined(bytes))
            // A pipe may hold another secret in its next line.
            if part == .complete || !isTerminal && part == .usable { return .text(bytes) }
            if isTerminal || isUsable(bytes, lineStart) { wait = Self.silence }
            if !isEmpty(bytes[lineStart...]) { lineStart = bytes.count }
        }
        return .tooLong
    }

    /// Whether silence ends it here: nothing is missing, or an empty line says so.
    private func isUsable(_ bytes: [UInt8], _ lineStart: Int) -> Bool {
        bytes.count > lineStart && isEmpty(bytes[lineStart...]) || part(joined(bytes)) != .incomplete
    }

    private func isEmpty(_ line: ArraySlice<UInt8>) -> Bool { line.allSatisfy { $0 <= UInt8(ascii: " ") } }

    private func joined(_ bytes: [UInt8]) -> [UInt8] {
        guard joinsLines else {
            return Array(bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.first ?? [])
        }
        return PastedText.joined(bytes)
    }
}

/// Whether the descriptor has something to read within a time in milliseconds; -1: without limit.
private func isReadable(_ descriptor: CInt, within wait: CInt) -> Bool {
    var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
        let count = poll(&query, 1, wait)
        if count >= 0 || errno != EINTR { return count != 0 }
    }
}

/// Writes to standard error, beside what the command prints, which may go to a file.
private func say(_ text: String) {
    var text = text
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// A terminal that hands over each byte and shows none, until it is restored.
private struct SilentTerminal {
    private let descriptor: CInt
    private let handlers: [(CInt, sighandler_t?)]

    /// Makes the terminal silent; `nil`: the descriptor is no terminal.
    init?(_ descriptor: CInt) {
        guard isatty(descriptor) == 1, tcgetattr(descriptor, &former) == 0 else { return nil }
        self.descriptor = descriptor
        formerDescriptor = descriptor
        handlers = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].map { ($0, signal($0, restoreAndDie)) }
        var silent = former
        // No lines of the terminal's own: it cuts those over 4,095 bytes.
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        silent.c_iflag = silent.c_iflag & ~tcflag_t(INLCR | IGNCR) | tcflag_t(ICRNL)
        withUnsafeMutableBytes(of: &silent.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        tcsetattr(descriptor, TCSADRAIN, &silent)
    }

    /// Drops what has come and what is still coming, and shows again what is typed.
    ///
    /// - Parameter silence: Milliseconds in which nothing comes, at the end.
    func restore(afterSilenceOf silence: CInt) {
        var dropped = [UInt8](repeating: 0, count: 4096)
        var count = 0
        while count < 1 << 20, isReadable(descriptor, within: silence) {
            let more = Glibc.read(descriptor, &dropped, dropped.count)
            guard more > 0 else { break }
            count += more
        }
        tcsetattr(descriptor, TCSAFLUSH, &former)
        for (number, handler) in handlers { signal(number, handler) }
    }
}

// A process has one terminal, and reads one secret at a time. The handler of a signal reads them, which can take no lock.
private nonisolated(unsafe) var former = termios()
private nonisolated(unsafe) var formerDescriptor: CInt = -1

private func restoreAndDie(_ number: CInt) {
    tcsetattr(formerDescriptor, TCSAFLUSH, &former)
    signal(number, SIG_DFL)
    raise(number)
}
