import Glibc
import Tor

/// Finds the `torrc` that comes with the program.
enum TorConfiguration {
    /// The one that was set; else the one installed beside the program; else the one of the checkout it was built in.
    static func path(setting: String) throws(NodeError) -> String {
        if !setting.isEmpty { return setting }
        let program = directoryOfProgram
        var candidates = ["\(program)/../share/onionbell/torrc", "\(program)/torrc"]
        var ancestor = program
        while let slash = ancestor.lastIndex(of: "/"), slash > ancestor.startIndex {
            ancestor = String(ancestor[..<slash])
            candidates.append(ancestor + "/torrc")
        }
        guard let found = candidates.first(where: { access($0, R_OK) == 0 }) else {
            throw .configuration("no torrc is installed beside the program: set tor.torrc to its path")
        }
        return found
    }

    private static var directoryOfProgram: String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { buffer in
            readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        let path = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
