import Foundation
import Lab

/// The memory of a process by what is mapped there (`/proc/PID/smaps`), in KiB.
///
/// Not PSS: pages of a file count there by how many processes have them in memory at the moment, and so a process gets
/// smaller by another one's start.
struct MappedMemory {
    /// Written to, by nobody else: heap, stacks, and the parts of files that it has changed.
    private(set) var own = 0.0
    /// Pages of the program's file as they are there.
    private(set) var program = 0.0
    /// Pages of all other files.
    private(set) var libraries = 0.0

    var all: Double { own + program + libraries }

    init(of process: Int32) throws {
        let directory = "/proc/\(process)"
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/exe")
        // Not by Foundation, which takes the first part of such a file, a page, for all of it.
        let text = String(decoding: try LabDirectory.read("\(directory)/smaps"), as: UTF8.self)
        var name = ""
        var resident = 0.0
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard let key = words.first, words.count > 1 else { continue }
            // A mapping's own line begins with its addresses.
            guard key.hasSuffix(":") else {
                name = words.count > 5 ? words[5...].joined(separator: " ") : ""
                continue
            }
            let value = Double(words[1]) ?? 0
            switch key {
            case "Rss:": resident = value
            // The kernel tells these after Rss.
            case "Private_Dirty:":
                let isFile = name.hasPrefix("/")
                own += isFile ? value : resident
                if name == program {
                    self.program += resident - value
                } else if isFile {
                    libraries += resident - value
                }
            case _: break
            }
        }
    }
}
