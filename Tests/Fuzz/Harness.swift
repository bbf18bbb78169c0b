// What all targets share: an input may cost only so much of the thread's time. Built into each by Deploy/tools/fuzz.
import Glibc

#if COST
    /// What is done for the checks' sake is left out.
    let isCostOnly = true

    /// The largest inputs, built as for release: `Deploy/tools/fuzz --cost`.
    @main enum Cost {
        /// What an input may cost the loop.
        private static let most: UInt64 = 5_000_000

        static func main() {
            let target = CommandLine.arguments[1]
            var costs: [(name: String, count: Int, least: UInt64)] = []
            for path in CommandLine.arguments.dropFirst(2) {
                guard let input = read(path) else { fatalError("\(path) can't be read") }
                let name = String(path.split(separator: "/").last ?? "")
                // What is far beyond it is that on any machine.
                var least = cost(of: input, turns: 1)
                #if TURNS
                    if least > most { least = min(least, cost(of: input, turns: 3)) }
                #else
                    if least < 8 * most { least = min(least, cost(of: input, turns: 7)) }
                #endif
                if least > most, least < 8 * most { least = min(least, costInQuiet(of: input)) }
                costs.append((name, input.count, least))
            }
            costs.sort { $0.least > $1.least }
            for cost in costs.prefix(5) {
                print(
                    "\(target): \(cost.least / 1000) us of the thread for \(cost.count) bytes, \(cost.name)")
            }
            // The yardstick tells how slow a machine is to about a quarter.
            guard let first = costs.first, first.least > most + most / 4 else { exit(0) }
            print("\(target): over \(most / 1000) us of the thread for one input")
            exit(1)
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
    nonisolated(unsafe) var isCostOnly = false
#endif

/// What is made once, and what a page fault costs, is not the input's: the least of some turns.
private func cost(of input: [UInt8], turns: Int, under bound: UInt64 = 0) -> UInt64 {
    var least = UInt64.max
    for _ in 0..<turns where least > bound { least = min(least, cost(of: input)) }
    return least
}

private func cost(of input: [UInt8]) -> UInt64 {
    #if TURNS
        return longestTurn(of: input)
    #else
        let begin = threadNanoseconds()
        fuzz(input)
        return threadNanoseconds() - begin
    #endif
}

/// What ``yardstick()`` costs on the machine for which the bounds were said: when it costs more, this one is slower, or
/// shares a core.
#if COST
    private let usual: UInt64 = 950_000
#else
    private let usual: UInt64 = 5_100_000
#endif

/// What it would cost on the usual machine: the least of some turns, each beside the yardstick.
private func costInQuiet(of input: [UInt8]) -> UInt64 {
    var least = UInt64.max
    for _ in 0..<20 {
        let begin = threadNanoseconds()
        yardstick()
        let yard = threadNanoseconds() - begin
        least = min(least, cost(of: input) * usual / max(yard, usual))
    }
    return least
}

/// Work that is none of the node's and always the same.
private func yardstick() {
    var state: UInt64 = 1
    var numbers = (0..<20_000).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 32
    }
    numbers.sort()
    precondition(numbers[0] <= numbers[1])
}

/// The node's loop may spend 5 ms on an input; four times that is a find, whatever its length.
private let longest: UInt64 = 20_000_000

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    #if !COST
        guard cost(of: input, turns: 1) > longest else { return 0 }
        // Each check reads its input several times: that is left out, and what it costs under the sanitizer is not.
        isCostOnly = true
        defer { isCostOnly = false }
        guard cost(of: input, turns: 7, under: longest) > longest else { return 0 }
        let least = costInQuiet(of: input)
        guard least > longest else { return 0 }
        fatalError("\(least / 1_000_000) ms of the thread's time for \(count) bytes")
    #else
        return 0
    #endif
}

private func threadNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
