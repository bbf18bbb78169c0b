import ArgumentParser
import Node
import Processes

/// Says what went wrong in a sentence and gives the exit status for it (sysexits.h).
func fail(_ sentence: some CustomStringConvertible, status: Int32) -> ExitCode {
    printError("onionbell: \(sentence)")
    return ExitCode(status)
}

/// Runs a body and makes a sentence, with its exit status, of what the node refuses.
func told<Value>(_ body: () throws(CallRefusal) -> Value) throws -> Value {
    do throws(CallRefusal) {
        return try body()
    } catch {
        throw fail(error, status: error.exitStatus)
    }
}
