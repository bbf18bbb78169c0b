import Glibc
import Node

/// Opens the state directory of a node that does not run. Makes it if it is not there yet: the first start
/// shall find the key.
package func stoppedNode(_ path: String) throws(NodeError) -> StateDirectory {
    guard access(path, F_OK) == 0 else { return try StateDirectory(path) }
    guard let state = try StateDirectory(ofStoppedNode: path) else {
        throw .unavailable("the node runs with \(path): stop it first")
    }
    return state
}
