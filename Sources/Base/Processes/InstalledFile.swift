import Glibc

/// Finds what comes with the program.
package enum InstalledFile {
    /// Returns the path of a file: in `share/onionbell` of the installation, else beside the program, else in
    /// a directory above it: the checkout that it was built in.
    ///
    /// - Parameters:
    ///   - installed: its name in `share/onionbell`.
    ///   - source: its path in a checkout.
    package static func path(_ installed: String, source: String) -> String? {
        var candidates = places(of: installed)
        var ancestor = ProgramBeside.directory
        while let slash = ancestor.lastIndex(of: "/"), slash > ancestor.startIndex {
            ancestor = String(ancestor[..<slash])
            candidates.append("\(ancestor)/\(source)")
        }
        return candidates.first { access($0, R_OK) == 0 }
    }

    /// Returns a sentence without its end that says why there is no such file, and what to do.
    package static func absence(of installed: String) -> String {
        "\(installed) comes with the program and is neither \(places(of: installed).joined(separator: " nor ")): "
            + "install the package onionbell, or build and start it in a checkout"
    }

    /// Returns the paths at which an installation may have the file.
    private static func places(of installed: String) -> [String] {
        let program = ProgramBeside.directory
        let parent = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? ""
        return ["\(parent)/share/onionbell/\(installed)", "\(program)/\(installed)"]
    }
}
