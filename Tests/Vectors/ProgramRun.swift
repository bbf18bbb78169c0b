import CSupport
import Glibc
import Processes
import Reactor

/// A program that a test has run to its end, with what it wrote.
package struct ProgramRun: Sendable {
    /// What it ended with by itself. The end by a signal is an error.
    package let status: Int32
    package let output: [UInt8]
    package let errors: [UInt8]

    package var text: String { String(decoding: output, as: UTF8.self) }
    package var errorText: String { String(decoding: errors, as: UTF8.self) }

    private let name: String

    /// Waits in the calling thread until the program has ended. It is killed when the task is cancelled, as that of a test is
    /// whose suite's time is up.
    ///
    /// - Parameters:
    ///   - arguments: The first is the program, found by PATH unless it has a slash.
    ///   - input: Its standard input.
    ///   - environment: What is added to this process' own.
    /// - Throws: ``ToolError`` with its last words when a signal has ended it, or when it could not be started.
    package init(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
    ) throws(ToolError) {
        name = arguments[0]
        let exit: ChildExit
        do throws(SystemError) {
            // Files: a pipe that nobody reads would hold the program up, and one that it does not read would end this
            // process.
            let read = try Self.file(input)
            let written = try Self.file()
            let complaints = try Self.file()
            let process = try startProcess(
                arguments,
                environment: Processes.environment.merging(environment) { $1 }.map { "\($0)=\($1)" },
                input: read.number, output: written.number, errors: complaints.number)
            exit = Self.end(of: process)
            output = try Self.content(of: written)
            errors = try Self.content(of: complaints)
        } catch {
            throw .notStarted(error)
        }
        guard case .exited(let status) = exit else {
            throw .ended(name, exit, output: Self.lastWords(errors.isEmpty ? output : errors))
        }
        self.status = status
    }

    /// - Throws: ``ToolError`` with its last words unless it has ended with status 0.
    @discardableResult
    package func succeeded() throws(ToolError) -> ProgramRun {
        guard status == 0 else {
            throw .ended(name, .exited(status), output: Self.lastWords(errors.isEmpty ? output : errors))
        }
        return self
    }

    private static func lastWords(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.suffix(2000), as: UTF8.self)
    }

    private static func end(of process: pid_t) -> ChildExit {
        let watch = Descriptor(owning: onionbell_pidfd_open(process))
        var event = pollfd(fd: watch.number, events: Int16(POLLIN), revents: 0)
        while poll(&event, 1, 1000) <= 0 {
            if Task.isCancelled { kill(process, SIGKILL) }
        }
        var status: CInt = 0
        waitpid(process, &status, 0)
        return ChildExit(waitStatus: status)
    }

    private static func file(_ content: [UInt8] = []) throws(SystemError) -> Descriptor {
        var path = Array("/tmp/onionbell-run-XXXXXX".utf8CString)
        let file = Descriptor(owning: mkstemp(&path))
        guard file.number >= 0 else { throw SystemError("make a file in /tmp") }
        unlink(path)
        // Where it is read from stays at its beginning.
        guard pwrite(file.number, content, content.count, 0) == content.count else {
            throw SystemError("write a file in /tmp")
        }
        return file
    }

    private static func content(of file: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw SystemError("read a file in /tmp") }
        let size = Int(status.st_size)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(file.number, buffer.baseAddress, size, 0))
        }
    }
}
