import Crypto
import HTTP2
import Programs
import QR
import Reactor
import SQLiteStorage
import YAML

/// What `--version` prints: the version alone in its first line, then the commit if the installation knows it, then the
/// libraries that the process runs with.
package enum VersionText {
    package static var text: String {
        ([programVersion, commit.map { "commit \($0)" }].compactMap(\.self) + [
            libraries.joined(separator: ", ")
        ])
        .joined(separator: "\n")
    }

    private static var libraries: [String] {
        [
            eventLibraryVersion, cryptoLibraryVersion, http2LibraryVersion, storageLibraryVersion,
            yamlLibraryVersion, codeLibraryVersion,
        ]
    }

    /// `Deploy/install` writes it beside the sample.
    private static var commit: String? {
        guard let path = InstalledFile.path("commit", source: ".build/commit"),
            let bytes = try? PrivateFile.read(path, limit: 200)
        else { return nil }
        return String(decoding: bytes.prefix { (0x20..<0x7f).contains($0) }, as: UTF8.self)
    }
}
