import Glibc
import Reactor

/// A program that runs for the benchmark on one core, and ends with it.
@EventLoop
final class Child {
    private(set) var lines: [String] = []
    private(set) var exit: ChildExit?
    private let name: String
    private var process: ChildProcess!
    private var waiting: [(isDone: (Child) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    var processID: Int32 { process.processID }

    init(_ arguments: [String], core: Core) throws(SystemError) {
        name = arguments[0]
        process = try ChildProcess(
            ["taskset", "-c", core.rawValue] + arguments,
            onLine: { [unowned self] line in
                lines.append(line)
                check()
            },
            onExit: { [unowned self] exit in
                self.exit = exit
                check()
            })
    }

    /// Its output, once it has ended well.
    func finish() async throws -> [String] {
        await wait { $0.exit != nil }
        guard exit == .exited(0) else {
            throw BenchError("\(name) ended with \(exit!): \(lines.suffix(5).joined(separator: " / "))")
        }
        return lines
    }

    func firstLine() async throws -> String {
        await wait { !$0.lines.isEmpty || $0.exit != nil }
        guard exit == nil, let line = lines.first else {
            throw BenchError("\(name) did not start: \(lines.suffix(5).joined(separator: " / "))")
        }
        return line
    }

    func end(by signal: Int32 = SIGKILL) async {
        process.signal(signal)
        await wait { $0.exit != nil }
    }

    private func wait(until isDone: @escaping (Child) -> Bool) async {
        if isDone(self) { return }
        await withCheckedContinuation { waiting.append((isDone, $0)) }
    }

    private func check() {
        let ready = waiting.filter { $0.isDone(self) }
        waiting.removeAll { $0.isDone(self) }
        for waiter in ready { waiter.continuation.resume() }
    }
}

/// Who runs where: what is measured has a core for itself, but for rates of a whole machine.
enum Core: String {
    case measured = "0"
    case others = "1"
    case any = "0,1"
}
