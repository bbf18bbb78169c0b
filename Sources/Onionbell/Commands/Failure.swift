import ArgumentParser
import Glibc

/// Says what went wrong in a sentence and gives the exit status for it (sysexits.h).
func fail(_ sentence: some CustomStringConvertible, status: Int32) -> ExitCode {
    printError("onionbell: \(sentence)")
    return ExitCode(status)
}

/// A line to standard error.
func printError(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// What is being done, for whoever waits at a terminal.
func printProgress(_ words: String) {
    if isatty(STDERR_FILENO) == 1 { printError("onionbell: \(words) ...") }
}

/// A line to standard output, at once: who reads it through a pipe must not wait for a full buffer.
func printLine(_ line: String) { printText(line + "\n") }

/// Text to standard output, whole.
func printText(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
        var written = 0
        while written < bytes.count {
            let count = write(STDOUT_FILENO, bytes.baseAddress! + written, bytes.count - written)
            guard count > 0 || errno == EINTR else { return }
            written += max(0, count)
        }
    }
}

/// The process' environment.
var environment: [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
        let parts = String(cString: text).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
        entry += 1
    }
    return result
}
