import Foundation

/// The process's heap.
package enum Heap {
    /// Bytes that are allocated now, by glibc's books; 0 under a sanitizer, which keeps its own.
    package static var allocatedBytes: Int {
        typealias Writer = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
        // Not in Swift's Glibc module.
        guard let symbol = dlsym(nil, "malloc_info"), let file = tmpfile() else { return 0 }
        defer { fclose(file) }
        guard unsafeBitCast(symbol, to: Writer.self)(0, file) == 0 else { return 0 }
        rewind(file)
        let text = String(
            decoding: FileHandle(fileDescriptor: fileno(file)).readDataToEndOfFile(), as: UTF8.self)
        // The sums of all arenas come last.
        let sums = text.components(separatedBy: "</heap>").last ?? ""
        func size(_ element: String) -> Int {
            guard let line = sums.split(separator: "\n").first(where: { $0.hasPrefix("<\(element)") }),
                let size = line.components(separatedBy: "size=\"").last?.prefix(while: { $0 != "\"" })
            else { return 0 }
            return Int(size) ?? 0
        }
        return size("system type=\"current\"") + size("total type=\"mmap\"") - size("total type=\"fast\"")
            - size("total type=\"rest\"")
    }
}
