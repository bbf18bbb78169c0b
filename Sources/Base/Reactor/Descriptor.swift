import Glibc

/// Owns a file descriptor; closes it when let go.
package struct Descriptor: ~Copyable {
    package let number: CInt

    package init(owning number: CInt) { self.number = number }

    deinit { close(number) }
}
