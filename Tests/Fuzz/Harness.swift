// What all targets share: an input may cost only so much of the thread's time. Built into each by Deploy/fuzz.
import Glibc

#if COST
    /// What is done for the checks' sake is left out.
    let isCostOnly = true

    /// The largest inputs, built as for release: `Deploy/fuzz --cost`.
    @main enum Cost {
        /// What an input may cost the loop.
        private static let most: UInt64 = 5_000_000

        static func main() {
            let target = CommandLine.arguments[1]
            var costs: [(name: String, count: Int, least: UInt64)] = []
            for path in CommandLine.arguments.dropFirst(2) {
                guard let input = read(path) else { fatalError("\(path) can't be read") }
                let name = String(path.split(separator: "/").last ?? "")
                costs.append((name, input.count, cost(of: input, turns: 7)))
            }
            costs.sort { $0.least > $1.least }
            for cost in costs.prefix(5) {
                print(
                    "\(target): \(cost.least / 1000) us of the thread for \(cost.count) bytes, \(cost.name)")
            }
            exit(costs.first.map { $0.least > most } == true ? 1 : 0)
        }

        private static func read(_ path: String) -> [UInt8]? {
            guard let file = fopen(path, "r") else { return nil }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            return Array(bytes.prefix(count))
        }
    }
#else
    let isCostOnly = false
#endif

/// What is made once, and what a page fault costs, is not the input's: the least of some turns.
private func cost(of input: [UInt8], turns: Int, under bound: UInt64 = 0) -> UInt64 {
    var least = UInt64.max
    for _ in 0..<turns where least > bound {
        let begin = threadNanoseconds()
        fuzz(input)
        least = min(least, threadNanoseconds() - begin)
    }
    return least
}

/// The node's loop may spend 5 ms on an input; four times that is a find. Here the address sanitizer makes everything
/// slower, and each check reads its input several times: both are linear, so the bound is a line, and what grows with
/// the square of a length crosses it.
private func longest(for count: Int) -> UInt64 { 20_000_000 + UInt64(count) * 5_000 }

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let least = cost(of: input, turns: 3, under: longest(for: count))
    guard least > longest(for: count) else { return 0 }
    fatalError("\(least / 1_000_000) ms of the thread's time for \(count) bytes")
}

private func threadNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
