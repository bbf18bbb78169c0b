import Reactor

/// A program that is run to its end for what it does or writes. Several run side by side when started before they are
/// waited for.
@EventLoop
package final class LabTool {
    private let name: String
    private var child: ChildProcess!
    private var lines: [String] = []
    private var exit: ChildExit?
    private var waiter: UnsafeContinuation<Void, Never>?

    package init(_ arguments: [String]) throws(LabError) {
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

    /// Its output, line by line, once it has ended well.
    package func finish() async throws(LabError) -> [String] {
        if exit == nil { await withUnsafeContinuation { waiter = $0 } }
        guard exit == .exited(0) else {
            throw .tool(name, exit ?? .exited(-1), output: lines.suffix(4).joined(separator: " / "))
        }
        return lines
    }
}
