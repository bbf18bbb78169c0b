import Glibc

/// Texts that cost a reader much when it treats them as Swift's `String` does, by bytes.
package enum HostileText {
    /// Combining marks in the order that sorting them by insertion takes longest for: n bytes are n²/16 moves.
    package static func marks(bytes: Int) -> String {
        String(repeating: "\u{300}", count: bytes / 4) + String(repeating: "\u{316}", count: bytes / 4)
    }

    package static func ascii(bytes: Int) -> String { String(repeating: "a", count: bytes) }

    /// How many times as long the thread computes for marks as for so many bytes of ASCII.
    ///
    /// Processor time of the thread, the least of five runs each, and 0.2 ms are forgiven: other work on the machine
    /// changes little about it.
    package static func ratio(bytes: Int = 60_000, _ body: (String) -> Void) -> Double {
        let marks = least { body(HostileText.marks(bytes: bytes)) }
        let ascii = least { body(HostileText.ascii(bytes: bytes)) }
        return Double(marks) / Double(max(ascii, 200_000))
    }

    private static func least(_ body: () -> Void) -> Int64 {
        (0..<5).map { _ in
            let start = threadNanoseconds()
            body()
            return threadNanoseconds() - start
        }.min() ?? 0
    }

    private static func threadNanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
