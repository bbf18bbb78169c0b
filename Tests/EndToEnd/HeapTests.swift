import Lab
import Reactor
import Testing

/// The memory of the built node that belongs to no thread alone.
@EventLoop
@Suite(.serialized) struct HeapTests {
    /// A heap of a thread's own begins at a multiple of 64 MiB (glibc's `HEAP_MAX_SIZE`). When the thread ends, the free end
    /// of it stays in memory.
    @Test func allThreadsOfTheNodeHaveOneHeap() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let process = try #require(stage.node.processID)
        let maps = String(decoding: try LabDirectory.read("/proc/\(process)/maps"), as: UTF8.self)
        var anonymous = 0
        for line in maps.split(separator: "\n") {
            // Address, rights, offset, device, inode, and the file's path if there is one.
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count == 5, words[1].hasPrefix("rw") else { continue }
            anonymous += 1
            let begin = try #require(UInt(words[0].prefix { $0 != "-" }, radix: 16))
            #expect(begin % (64 << 20) != 0, "\(line)")
        }
        #expect(anonymous > 0)
        await stage.close()
    }
}
