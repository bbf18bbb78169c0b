import Glibc

/// Another program of this package, in the directory of the running one. It is never looked for in `PATH`: what lies
/// beside this program was installed with it.
package struct ProgramBeside {
    package let name: String

    package init(_ name: String) { self.name = name }

    /// The program's path, whether it is there or not.
    package var path: String { "\(ProgramBeside.directory)/\(name)" }

    /// Goes on as this program: same process, same environment, same output.
    ///
    /// - Returns: Only if that is impossible; the sentence says why.
    package func replaceThisProcess(arguments: [String]) -> String {
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        return "\(path) can't be started: \(reason)"
    }

    /// The directory of the running program, also when its file was replaced meanwhile.
    package static var directory: String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { buffer in
            readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        let path = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
