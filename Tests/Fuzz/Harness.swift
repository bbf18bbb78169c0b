// What all targets share: an input may cost only so much of the thread's time. Built into each by Deploy/fuzz.
import Glibc

/// The node's loop may spend 5 ms on an input; four times that is a find. Here the address sanitizer makes everything
/// slower, and each check reads its input several times: both are linear, so the bound is a line, and what grows with
/// the square of a length crosses it.
private func longest(for count: Int) -> UInt64 { 20_000_000 + UInt64(count) * 5_000 }

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    // What is made once, and what a page fault costs, is not the input's: the least of three counts.
    var least = UInt64.max
    for _ in 0..<3 {
        let begin = threadNanoseconds()
        fuzz(input)
        least = min(least, threadNanoseconds() - begin)
        if least <= longest(for: count) { return 0 }
    }
    fatalError("\(least / 1_000_000) ms of the thread's time for \(count) bytes")
}

private func threadNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
