import ArgumentParser
import Programs

/// Says what went wrong in a sentence and gives the exit status for it (sysexits.h).
func fail(_ sentence: some CustomStringConvertible, status: Int32) -> ExitCode {
    printError("onionbell: \(sentence)")
    return ExitCode(status)
}
