import ArgumentParser
import Node
import Programs

/// Says what went wrong in a sentence and gives the exit status for it (sysexits.h).
func fail(_ sentence: some CustomStringConvertible, status: Int32) -> ExitCode {
    printError("onionbell: \(sentence)")
    return ExitCode(status)
}

/// What the node refuses becomes a sentence and its exit status.
func told<Value>(_ body: () throws(CallRefusal) -> Value) throws -> Value {
    do throws(CallRefusal) {
        return try body()
    } catch {
        throw fail(error, status: error.exitStatus)
    }
}
