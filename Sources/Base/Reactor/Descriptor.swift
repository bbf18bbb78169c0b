import CSupport
import Glibc

/// Owns a file descriptor; closes it when let go.
package struct Descriptor: ~Copyable {
    package let number: CInt

    package init(owning number: CInt) { self.number = number }

    /// Makes another descriptor of the same open file, close-on-exec; `nil`: the process has no room for one.
    package init?(copying number: CInt) {
        let copy = onionbell_copy_descriptor(number)
        guard copy >= 0 else { return nil }
        self.number = copy
    }

    /// Returns the number, which the caller owns from now on.
    package consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }

    deinit { close(number) }
}
