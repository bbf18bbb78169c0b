import Glibc

/// A system call that failed.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    package let code: CInt
    /// The operation that was tried, as part of a sentence: `bind 127.0.0.1:9400`. Never holds a peer's bytes.
    package let operation: String

    package init(_ operation: String, code: CInt = errno) {
        self.code = code
        self.operation = operation
    }

    package var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

extension SystemError {
    /// Makes the fault of a file that settings name. Where it is not there, and its name has no ending of a file's, it is not
    /// shown: people write a token in the place of the file that has it.
    package init(ofNamedFile path: String, _ error: SystemError) {
        let isAbsent = [ENOENT, ENOTDIR, ENAMETOOLONG].contains(error.code)
        let parts = path.utf8.split(separator: UInt8(ascii: "/"))
        let name = parts.last ?? path.utf8[...]
        // What systemd hands over has such a folder in its name.
        let isCredential = parts.dropLast().last?.elementsEqual("credentials".utf8) ?? false
        let ending = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst()
            .last
        let hasEnding = ending.map { (1...5).contains($0.count) } ?? false
        guard isAbsent, !hasEnding, !isCredential else {
            self = error
            return
        }
        self.init(
            "open the file that it names (the name is not shown: it may be the secret itself)",
            code: error.code)
    }
}
