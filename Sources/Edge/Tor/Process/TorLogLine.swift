import Encodings
import Logging

/// A line of tor's own log, fit to be shown: without the time, and without other machines' addresses.
///
/// A notice of tor is of no more weight here than a detail: what it says of the start, our own log says too.
package struct TorLogLine: Equatable, Sendable {
    package var level: Logger.Level
    package var words: String

    /// Reads `Nov 21 08:31:02.000 [notice] Bootstrapped 5% (conn): Connecting to a relay`; a line in another
    /// form is kept whole.
    package init(_ line: String) {
        var words = line[...]
        level = .debug
        if let open = line.firstIndex(of: "["), let close = line[open...].firstIndex(of: "]"),
            let level = Self.level(line[line.index(after: open)..<close])
        {
            self.level = level
            words = line[line.index(after: close)...].drop { $0 == " " }
        }
        self.words = Self.withoutAddresses(words)
    }

    private static func level(_ word: Substring) -> Logger.Level? {
        switch word {
        case "debug", "info": .trace
        case "notice": .debug
        case "warn": .warning
        case "err": .error
        default: nil
        }
    }

    /// Replaces whatever names a machine or service elsewhere: IP addresses but loopback ones, with their ports, relays'
    /// fingerprints, onion addresses. Control characters become `?`.
    package static func withoutAddresses(_ text: some StringProtocol) -> String {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            guard isPartOfAddress(byte) else {
                result.append(byte < 0x20 || byte == 0x7F ? UInt8(ascii: "?") : byte)
                rest = rest.dropFirst()
                continue
            }
            let run = rest.prefix(while: isPartOfAddress)
            rest = rest.dropFirst(run.count)
            result += holdsAddress(Array(run)) ? Array("<address>".utf8) : Array(run)
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isPartOfAddress(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) == 1 || ".:[]$~=".utf8.contains(byte)
    }

    private static func holdsAddress(_ run: [UInt8]) -> Bool {
        let text = String(decoding: run, as: UTF8.self)
        let parts = text.split { !$0.isLetter && !$0.isNumber }
        return parts.contains { $0.utf8.count == 40 && $0.allSatisfy(\.isHexDigit) || $0.utf8.count == 56 }
            || text.split(whereSeparator: { !$0.isNumber && $0 != "." }).contains(where: isIPv4)
            || isIPv6(text)
    }

    private static func isIPv4(_ digits: Substring) -> Bool {
        let numbers = digits.split(separator: ".").map { UInt8($0) }
        // Four numbers that begin with 0 are a version of tor.
        return numbers.count == 4 && !numbers.contains(nil) && numbers[0] != 127 && numbers[0] != 0
    }

    private static func isIPv6(_ text: String) -> Bool {
        let inside = text.split(whereSeparator: { "[]$~=".contains($0) })
        return inside.contains { part in
            let groups = part.split(separator: ":", omittingEmptySubsequences: false)
            let isHexadecimal = part.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            // Three groups of digits are a time of day.
            let hasGap = groups.dropFirst().dropLast().contains("")
            return isHexadecimal && part != "::1" && (hasGap || groups.count > 3)
        }
    }
}
