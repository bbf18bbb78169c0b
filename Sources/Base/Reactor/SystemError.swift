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
