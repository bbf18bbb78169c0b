import Reactor

/// Why a program has not done what it was run for.
package enum ToolError: Error, Equatable, CustomStringConvertible {
    case notStarted(SystemError)
    /// The program has not ended well. `output` is the end of what it wrote.
    case ended(String, ChildExit, output: String)

    package var description: String {
        switch self {
        case .notStarted(let error): error.description
        case .ended(let name, let exit, let output): "\(name) ended (\(exit)): \(output)"
        }
    }
}

/// A program that is run to its end for what it does or writes. Several run side by side when started before they are
/// waited for.
@EventLoop
package final class Tool {
    private let name: String
    private var child: ChildProcess!
    private var lines: [String] = []
    private var exit: ChildExit?
    private var waiter: UnsafeContinuation<Void, Never>?

    package init(_ arguments: [String]) throws(ToolError) {
        name = arguments[0]
        do {
            child = try ChildProcess(
                arguments,
                onLine: { [weak self] line in self?.lines.append(line) },
                onExit: { [weak self] exit in
                    self?.exit = exit
                    self?.waiter?.resume()
                })
        } catch {
            throw .notStarted(error)
        }
    }

    /// Kills a program that takes too long.
    package func kill() {
        if exit == nil { child.signal(9) }
    }

    /// Returns the program's output, line by line, once it has ended well.
    package func finish() async throws(ToolError) -> [String] {
        if exit == nil { await withUnsafeContinuation { waiter = $0 } }
        guard exit == .exited(0) else {
            throw .ended(name, exit ?? .exited(-1), output: lines.suffix(4).joined(separator: " / "))
        }
        return lines
    }
}
