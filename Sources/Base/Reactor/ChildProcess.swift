import CEvent
import CSupport
import Glibc

/// How a process ended.
package enum ChildExit: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    /// Reads the status that `waitpid` gave.
    package init(waitStatus status: CInt) {
        let signal = status & 0x7f
        self = signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }

    package var description: String {
        switch self {
        case .exited(let code): "exit status \(code)"
        case .signalled(let number): "killed by signal \(number)"
        }
    }
}

/// A child process. Unless it is to outlive this program, the kernel kills it when the event loop's thread ends, so at the
/// latest with this process, however that ends.
@EventLoop
package final class ChildProcess {
    package let processID: Int32
    package private(set) var exit: ChildExit?
    private var isHandedOn = false

    private let watch: Descriptor
    private var exitEvent: LoopEvent!
    private let lines: LineReader?
    private let onExit: @EventLoop (ChildExit) -> Void

    /// Starts `arguments[0]`, found by PATH unless it has a slash.
    ///
    /// - Parameters:
    ///   - environment: `KEY=value` each; `nil`: this process' own.
    ///   - onLine: Called with each line of the child's output and errors, at most 4,096 bytes of it; `nil`: they go
    ///     where this process' go.
    ///   - onExit: Called once, after the last line. Not called when this object is let go before.
    ///   - outlives: Whether the kernel lets it live when the event loop's thread ends: for a child that is handed on to
    ///     this process' successor, and ends by itself with what connects it to this process.
    package init(
        _ arguments: [String], environment: [String]? = nil, outlives: Bool = false,
        onLine: (@EventLoop (String) -> Void)? = nil, onExit: @escaping @EventLoop (ChildExit) -> Void
    ) throws(SystemError) {
        let operation = "start \(arguments[0])"
        var ends: [CInt] = [-1, -1]
        if onLine != nil {
            guard pipe(&ends) == 0 else { throw SystemError(operation) }
            guard ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }),
                fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0
            else {
                let code = errno
                for end in ends { Glibc.close(end) }
                throw SystemError(operation, code: code)
            }
        }
        let output = ends[1]
        defer { if output >= 0 { Glibc.close(output) } }
        let processID: Int32
        do throws(SystemError) {
            processID = try startProcess(
                arguments, environment: environment, output: output, errors: output, outlives: outlives)
        } catch {
            if ends[0] >= 0 { Glibc.close(ends[0]) }
            throw error
        }
        let watch = onionbell_pidfd_open(processID)
        guard watch >= 0 else {
            // Unwatched, its end would never be seen.
            let code = errno
            kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
            if ends[0] >= 0 { Glibc.close(ends[0]) }
            throw SystemError(operation, code: code)
        }
        self.processID = processID
        lines = onLine.map { LineReader(Descriptor(owning: ends[0]), onLine: $0) }
        self.watch = Descriptor(owning: watch)
        self.onExit = onExit
        exitEvent = LoopEvent(descriptor: self.watch.number, events: EV_READ) { [unowned self] _ in reap() }
        exitEvent.add()
    }

    /// Takes over a child of this process that it had before it became this program.
    ///
    /// - Parameter output: The pipe from which its output is read.
    /// - Returns: `nil`: there is no such child, or it has ended.
    package init?(
        inheriting processID: Int32, output: consuming Descriptor,
        onLine: @escaping @EventLoop (String) -> Void,
        onExit: @escaping @EventLoop (ChildExit) -> Void
    ) {
        var status: CInt = 0
        // A child that has ended is reaped by this.
        guard processID > 0, waitpid(processID, &status, WNOHANG) == 0 else { return nil }
        let watch = onionbell_pidfd_open(processID)
        guard watch >= 0 else { return nil }
        self.processID = processID
        lines = LineReader(output, onLine: onLine)
        self.watch = Descriptor(owning: watch)
        self.onExit = onExit
        exitEvent = LoopEvent(descriptor: self.watch.number, events: EV_READ) { [unowned self] _ in reap() }
        exitEvent.add()
    }

    /// Lets go of a child that runs on, for this process' successor.
    ///
    /// - Returns: The pipe from which its output is read; `nil`: it has ended, or its output goes elsewhere.
    package func handOn() -> Descriptor? {
        guard exit == nil, let output = lines?.handOn() else { return nil }
        exitEvent.remove()
        isHandedOn = true
        return output
    }

    /// Kills a child that still runs, and reaps it.
    isolated deinit {
        guard exit == nil, !isHandedOn else { return }
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
    }

    package func signal(_ number: Int32) {
        guard exit == nil else { return }
        kill(processID, number)
    }

    private func reap() {
        var status: CInt = 0
        guard waitpid(processID, &status, 0) == processID else { return }
        let ended = ChildExit(waitStatus: status)
        exit = ended
        lines?.readRest()
        onExit(ended)
    }
}

/// Cuts a pipe into lines.
@EventLoop
private final class LineReader {
    private let descriptor: Descriptor
    private var event: LoopEvent!
    private var partial: [UInt8] = []
    private let onLine: @EventLoop (String) -> Void
    private static let longestLine = 4096

    init(_ descriptor: consuming Descriptor, onLine: @escaping @EventLoop (String) -> Void) {
        self.descriptor = descriptor
        self.onLine = onLine
        event = LoopEvent(descriptor: self.descriptor.number, events: EV_READ | EV_PERSIST) {
            [unowned self] _ in
            _ = readSome()
        }
        event.add()
    }

    /// Reads nothing more; returns the pipe for another reader.
    func handOn() -> Descriptor? {
        event.remove()
        return Descriptor(copying: descriptor.number)
    }

    /// Reads the rest of the pipe after the child ended, up to 1 MiB.
    func readRest() {
        for _ in 0..<256 where !readSome() { break }
        if !partial.isEmpty { emit() }
    }

    /// Reads the bytes that are there; false when there are none now.
    private func readSome() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor.number, &buffer, buffer.count)
        guard count > 0 else {
            if count == 0 { event.remove() }
            return false
        }
        for byte in buffer[..<count] {
            if byte == UInt8(ascii: "\n") {
                emit()
            } else if partial.count < LineReader.longestLine {
                partial.append(byte)
            }
        }
        return true
    }

    private func emit() {
        let line = String(decoding: partial, as: UTF8.self)
        partial.removeAll(keepingCapacity: true)
        onLine(line)
    }
}

/// Starts `arguments[0]`, found by PATH unless it has a slash. The kernel kills it when the calling thread ends, unless it
/// outlives that.
///
/// - Parameters:
///   - environment: `KEY=value` each; `nil`: this process' own.
///   - input: Descriptor of its standard input; -1: it reads nothing.
///   - output: Descriptor of its standard output; -1: this process' own. So with `errors`.
/// - Returns: its process id. The caller reaps it.
package func startProcess(
    _ arguments: [String], environment: [String]?, input: CInt = -1, output: CInt, errors: CInt,
    outlives: Bool = false
) throws(SystemError) -> pid_t {
    let processID = withCStrings(arguments) { arguments in
        if let environment {
            withCStrings(environment) { onionbell_spawn(arguments, $0, input, output, errors, outlives) }
        } else {
            onionbell_spawn(arguments, nil, input, output, errors, outlives)
        }
    }
    guard processID > 0 else { throw SystemError("start \(arguments[0])") }
    return processID
}

/// Calls `body` with the strings as a NULL-terminated array of C strings, valid during the call.
func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    return body(pointers)
}
