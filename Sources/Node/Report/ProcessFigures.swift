import Clocks
import Glibc
import Overview
import Reactor

/// The kernel's figures of this process (proc(5)).
enum ProcessFigures {
    /// The start of this program, which a process may become later than it began itself.
    static let start = EventLoop.now

    static func read() -> Report.Process {
        var figures = Report.Process()
        // Behind the name in parentheses; the first word there is the third of the manual's list.
        let stat = words(of: "/proc/self/stat", behind: ")")
        let ticks = Int64(sysconf(CInt(_SC_CLK_TCK)))
        if stat.count > 21, ticks > 0 {
            let spent = (Int64(stat[11]) ?? 0) + (Int64(stat[12]) ?? 0)
            figures.processorTime = .milliseconds(spent * 1000 / ticks)
            figures.virtualBytes = Int(stat[20]) ?? 0
            figures.residentBytes = (Int(stat[21]) ?? 0) * sysconf(CInt(_SC_PAGESIZE))
        }
        figures.startedAt = EventLoop.unixTime - (EventLoop.now - start)
        figures.openFiles = openFiles
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            figures.openFilesLimit = Int(clamping: limit.rlim_cur)
        }
        return figures
    }

    /// Bytes in memory that are of no file, and that the heap does not use: free memory of the heap, and what never changes.
    static var spareBytes: Int {
        let pages = words(of: "/proc/self/statm")
        guard pages.count > 2, let resident = Int(pages[1]), let ofFiles = Int(pages[2]) else { return 0 }
        return max(0, (resident - ofFiles) * sysconf(CInt(_SC_PAGESIZE)) - ThisProcess.usedHeap)
    }

    /// Linux 6.2 and later tell the number as the size of the directory; before, it has to be read through.
    private static var openFiles: Int {
        var status = Glibc.stat()
        if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Itself, its parent, and what this reads it by.
        return max(0, count - 3)
    }

    private static func words(of path: String, behind mark: Character? = nil) -> [Substring] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(file, &bytes, bytes.count)
        let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
        guard let mark else { return text.split(separator: " ") }
        return text.lastIndex(of: mark).map { text[text.index(after: $0)...].split(separator: " ") } ?? []
    }
}
