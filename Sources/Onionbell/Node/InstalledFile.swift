import Glibc

/// Finds what comes with the program.
enum InstalledFile {
    /// In `share/onionbell` of the installation, else beside the program, else in a directory above it: the checkout that
    /// it was built in.
    ///
    /// - Parameters:
    ///   - installed: its name in `share/onionbell`.
    ///   - source: its path in a checkout.
    static func path(_ installed: String, source: String) -> String? {
        let program = directoryOfProgram
        var candidates = ["\(program)/../share/onionbell/\(installed)", "\(program)/\(installed)"]
        var ancestor = program
        while let slash = ancestor.lastIndex(of: "/"), slash > ancestor.startIndex {
            ancestor = String(ancestor[..<slash])
            candidates.append("\(ancestor)/\(source)")
        }
        return candidates.first { access($0, R_OK) == 0 }
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
