import Lab
import Reactor
import Testing

/// The memory of the built node that belongs to no thread alone.
@EventLoop
@Suite(.serialized) struct HeapTests {
    /// glibc reserves 64 MiB for a heap of a thread's own, at a multiple of that: a writable part, and behind it what nobody
    /// may touch. When the thread ends, the free end of it stays in memory.
    @Test func allThreadsOfTheNodeHaveOneHeap() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let process = try #require(stage.node.processID)
        let maps = String(decoding: try LabDirectory.read("/proc/\(process)/maps"), as: UTF8.self)
        let places = maps.split(separator: "\n").map { line in
            // Address, rights, offset, device, inode, and the file's path if there is one.
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let range = words[0].split(separator: "-").map { UInt($0, radix: 16)! }
            return (begin: range[0], end: range[1], rights: words[1], isAnonymous: words.count == 5)
        }
        let reserved: UInt = 64 << 20
        let heaps = zip(places, places.dropFirst()).filter { heap, rest in
            heap.isAnonymous && heap.rights.hasPrefix("rw") && heap.begin % reserved == 0
                && rest.rights.hasPrefix("---") && rest.begin == heap.end && rest.end == heap.begin + reserved
        }
        #expect(heaps.isEmpty, "\(maps)")
        #expect(places.contains { $0.isAnonymous && $0.rights.hasPrefix("rw") })
        await stage.close()
    }
}
