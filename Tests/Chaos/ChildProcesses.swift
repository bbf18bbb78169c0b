import Glibc
import Lab

/// What the kernel tells of another process' children.
enum ChildProcesses {
    /// Those with this name, such as `tor`.
    static func named(_ name: String, of parent: pid_t) -> [pid_t] {
        guard let entries = opendir("/proc") else { return [] }
        defer { closedir(entries) }
        var found: [pid_t] = []
        while let entry = readdir(entries) {
            let file = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let process = pid_t(file), let stat = try? LabDirectory.read("/proc/\(file)/stat") else {
                continue
            }
            // `pid (name) state parent ...`
            let words = String(decoding: stat, as: UTF8.self).split(separator: " ")
            if words.count > 3, words[1] == "(\(name))", words[3] == "\(parent)" { found.append(process) }
        }
        return found
    }
}
