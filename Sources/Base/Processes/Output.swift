import Glibc

/// Prints a line, or several, to standard error. A name or a value from outside stands in many faults: what it has of
/// characters that a terminal obeys is shown, and not sent.
package func printError(_ line: String) {
    var text = obeyedByNoTerminal(line) + "\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Says what is being done, for a person who waits at a terminal.
package func printProgress(_ words: String) {
    if isatty(STDERR_FILENO) == 1 { printError("onionbell: \(words) ...") }
}

/// Prints a line to standard output, at once: who reads it through a pipe must not wait for a full buffer.
package func printLine(_ line: String) { printText(line + "\n") }

/// Prints the whole text to standard output. Returns false if that can't be.
@discardableResult
package func printText(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
        var written = 0
        while written < bytes.count {
            let count = write(STDOUT_FILENO, bytes.baseAddress! + written, bytes.count - written)
            guard count > 0 || errno == EINTR else { return false }
            written += max(0, count)
        }
        return true
    }
}

/// Whether standard output is a terminal that shows colours (no-color.org).
package var hasColours: Bool { isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil }

extension Duration {
    /// `1.234 s` or `12.3 ms`.
    package var inWords: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        if microseconds >= 1_000_000 { return fixed(microseconds / 1000, "s", digits: 3) }
        return fixed(microseconds / 100, "ms", digits: 1)
    }

    private func fixed(_ value: Int64, _ unit: String, digits: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let fraction = String(value % scale)
        return "\(value / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction) \(unit)"
    }
}

/// Returns a text in which control characters, but ends of lines and tabs, and characters that turn the direction of writing
/// are written as `\u{1B}`.
package func obeyedByNoTerminal(_ text: String) -> String {
    func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        case _: false
        }
    }
    guard text.unicodeScalars.contains(where: isObeyed) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        if isObeyed(scalar) {
            shown.append(
                contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
        } else {
            shown.append(scalar)
        }
    }
    return String(shown)
}
