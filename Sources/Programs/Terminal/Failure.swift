import ArgumentParser
import Node
import Processes

/// Says what went wrong in a sentence and gives the exit status for it (sysexits.h).
package func fail(_ sentence: some CustomStringConvertible, status: Int32) -> ExitCode {
    printError("onionbell: \(sentence)")
    return ExitCode(status)
}

/// Runs a body; a refusal by the node becomes a message and an exit status.
package func reportingRefusals<Value>(_ body: () throws(CallRefusal) -> Value) throws -> Value {
    do throws(CallRefusal) {
        return try body()
    } catch {
        throw fail(error, status: error.exitStatus)
    }
}
