import Glibc

/// Owns a file descriptor; closes it when let go.
package struct Descriptor: ~Copyable {
    package let number: CInt

    package init(owning number: CInt) { self.number = number }

    deinit { close(number) }

    /// Gives the descriptor to another owner.
    package consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }
}
