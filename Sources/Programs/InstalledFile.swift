import Glibc

/// Finds what comes with the program.
package enum InstalledFile {
    /// In `share/onionbell` of the installation, else beside the program, else in a directory above it: the checkout that
    /// it was built in.
    ///
    /// - Parameters:
    ///   - installed: its name in `share/onionbell`.
    ///   - source: its path in a checkout.
    package static func path(_ installed: String, source: String) -> String? {
        let program = ProgramBeside.directory
        var candidates = ["\(program)/../share/onionbell/\(installed)", "\(program)/\(installed)"]
        var ancestor = program
        while let slash = ancestor.lastIndex(of: "/"), slash > ancestor.startIndex {
            ancestor = String(ancestor[..<slash])
            candidates.append("\(ancestor)/\(source)")
        }
        return candidates.first { access($0, R_OK) == 0 }
    }
}
