import CSupport
import Glibc

extension Stream {
    /// Makes two streams connected with each other, for tests and for parts that talk inside one process.
    package static func pair() throws(SystemError) -> (Stream, Stream) {
        var descriptors: [CInt] = [-1, -1]
        guard onionbell_socketpair(&descriptors) == 0 else { throw SystemError("make a socket pair") }
        return (Stream(Descriptor(owning: descriptors[0])), Stream(Descriptor(owning: descriptors[1])))
    }
}
