import Glibc
import Reactor

/// A built program in a process of its own that ends with this one.
@EventLoop
package class LabProgram {
    private var child: ChildProcess?
    /// The lines of its output and its log.
    package private(set) var lines: [String] = []
    package private(set) var exit: ChildExit?
    /// Called after each line.
    package var onLine: (@EventLoop () -> Void)?
    private var waiting: [Waiter] = []
    private var waiters = 0

    private struct Waiter {
        let number: Int
        let isDone: (LabProgram) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Starts the program.
    ///
    /// - Parameter environment: `KEY=value` each; `nil`: this process' own.
    package init(_ arguments: [String], environment: [String]? = nil) throws(SystemError) {
        child = try ChildProcess(
            arguments, environment: environment,
            onLine: { [unowned self] line in
                lines.append(line)
                onLine?()
                check()
            },
            onExit: { [unowned self] exit in
                self.exit = exit
                check()
            })
    }

    /// The number of the process; `nil` when it is gone.
    package var processID: Int32? { exit == nil ? child?.processID : nil }

    /// Resident memory in KiB; `nil` when the process is gone.
    package var residentMemory: Int? {
        guard let child, let status = try? LabDirectory.read("/proc/\(child.processID)/status") else {
            return nil
        }
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("VmRSS:")
        }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    /// The processor time of all its threads since its start, without its children; `nil` when the process is gone.
    package var processorTime: Duration? {
        guard let processID, let stat = try? LabDirectory.read("/proc/\(processID)/stat") else { return nil }
        // Behind the name in parentheses: user and system time are the 12th and 13th, in ticks.
        let words = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
        guard let words, words.count > 12, let user = Int(words[11]), let system = Int(words[12]) else {
            return nil
        }
        return .seconds(user + system) / sysconf(CInt(_SC_CLK_TCK))
    }

    /// Sends SIGTERM, and waits for the end.
    @discardableResult
    package func stop() async -> ChildExit? { await end(by: SIGTERM) }

    /// Kills the process, as a power cut would end it.
    package func kill() async { await end(by: SIGKILL) }

    @discardableResult
    package func end(by signal: Int32) async -> ChildExit? {
        child?.signal(signal)
        await wait { $0.exit != nil }
        if exit == nil { child?.signal(SIGKILL) }
        return exit
    }

    /// Returns when that is so, or when the task is cancelled, as a test is whose time is up.
    package func wait(until isDone: @escaping (LabProgram) -> Bool) async {
        if isDone(self) { return }
        waiters += 1
        let number = waiters
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                waiting.append(Waiter(number: number, isDone: isDone, continuation: continuation))
            }
        } onCancel: {
            Task { @EventLoop in release { $0.number == number } }
        }
    }

    private func check() { release { $0.isDone(self) } }

    private func release(_ isReady: (Waiter) -> Bool) {
        let ready = waiting.filter(isReady)
        waiting.removeAll { one in ready.contains { $0.number == one.number } }
        for waiter in ready { waiter.continuation.resume() }
    }
}
