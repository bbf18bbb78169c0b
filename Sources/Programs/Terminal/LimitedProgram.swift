import Glibc
import Processes
import Reactor

/// Runs programs one after the other, without a shell, each for a limited time.
@EventLoop
package final class LimitedProgram {
    private let limit: Duration
    private var child: ChildProcess?

    package nonisolated init(limit: Duration) { self.limit = limit }

    /// Runs a program until it ends or is killed at the limit.
    ///
    /// - Parameter variables: The variables in its environment, beside this process' own.
    /// - Returns: What went wrong, once it has ended; `nil`: it ended well.
    package func run(_ arguments: [String], variables: [String: String]) async -> String? {
        let environment = environment.merging(variables) { $1 }.map { "\($0.key)=\($0.value)" }
        let timer = Timer { [unowned self] in child?.signal(SIGKILL) }
        timer.start(after: limit)
        let fault: String? = await withUnsafeContinuation { continuation in
            do throws(SystemError) {
                child = try ChildProcess(arguments, environment: environment) { exit in
                    continuation.resume(returning: exit == .exited(0) ? nil : "\(exit)")
                }
            } catch {
                continuation.resume(returning: "\(error)")
            }
        }
        timer.stop()
        child = nil
        return fault
    }
}
