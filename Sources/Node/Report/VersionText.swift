import Crypto
import Glibc
import HTTP2
import Persistence
import Processes
import QR
import Reactor
import YAML

/// The text of `--version`: the version alone in its first line, then the commit if the installation knows it, then the
/// libraries that the process runs with, then the features that it was built without.
package enum VersionText {
    package static func text(of features: Features) -> String {
        let leftOut = features.leftOut.map(\.name)
        let without = leftOut.isEmpty ? nil : "without \(leftOut.joined(separator: ", "))"
        let lines: [String?] = [
            programVersion, commit.map { "commit \($0)" }, libraries.joined(separator: ", "), without,
        ]
        return lines.compactMap(\.self).joined(separator: "\n")
    }

    private static var libraries: [String] {
        [
            eventLibraryVersion, cryptoLibraryVersion, http2LibraryVersion, storageLibraryVersion,
            yamlLibraryVersion, qrLibraryVersion,
        ]
    }

    /// `Deploy/install` writes it beside the sample, and `Deploy/test` and `Deploy/demo` beside what they built. What was
    /// built after that is of a commit that nobody wrote down.
    private static var commit: String? {
        guard let path = InstalledFile.path("commit", source: ".build/commit"),
            !path.hasSuffix(".build/commit")
                || ["onionbell", "onionbelld"].allSatisfy({
                    written("\(ProgramBeside.directory)/\($0)") <= written(path)
                }),
            let bytes = try? PrivateFile.read(path, limit: 200)
        else { return nil }
        return String(decoding: bytes.prefix { (0x20..<0x7f).contains($0) }, as: UTF8.self)
    }

    /// Returns the time at which a file was written, in seconds since 1970.
    private static func written(_ path: String) -> Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mtim.tv_sec : 0
    }
}
