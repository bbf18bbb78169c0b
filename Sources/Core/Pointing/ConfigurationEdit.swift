/// Why a client's configuration file is left as it is.
package enum ConfigurationEditError: Error, Equatable, CustomStringConvertible {
    /// The value continues on the next line.
    case continuedLine(number: Int)
    /// Another address is mapped. The client keeps one line of each option, so one of the two would be lost.
    case otherMapAddress(number: Int)
    /// The program has written the file anew: the lines stand elsewhere now.
    case linesMoved(key: String)
    case notPointed

    package var description: String {
        switch self {
        case .continuedLine(let number):
            "line \(number) continues on the next line: write torrcOptions on one line, or change it by hand"
        case .otherMapAddress(let number):
            "line \(number) maps another address, and the program keeps only one MapAddress: use a tor of your own "
                + "for both (--torControlPort)"
        case .linesMoved(let key):
            "the program has written the file anew, so the lines can't be told from others: take out \(key) by hand"
        case .notPointed: "the file has no lines of onionbell point"
        }
    }
}

/// Changes of a client's configuration file. They keep every other line as it is.
extension PointedSettings {
    /// Returns the file's text with the node in it. The text
    /// comes out unchanged when the node is in it already.
    ///
    /// - Parameter text: As the file is now; empty when there is none.
    package func added(to text: String) throws(ConfigurationEditError) -> String {
        switch client {
        case .bisq1, .haveno: try TorrcOptions(text, mapping: client.builtInAddress).with(mapAddress)
        case .bisq2, .bisq2Docker: MarkedBlock.add(bisq2Lines, to: text)
        }
    }

    /// Returns the file's text without the node.
    package static func removed(
        from text: String, of client: PointedClient
    ) throws(ConfigurationEditError) -> String {
        switch client {
        case .bisq1, .haveno: try TorrcOptions(text, mapping: client.builtInAddress).with(nil)
        case .bisq2, .bisq2Docker: try MarkedBlock.remove(from: text)
        }
    }

    static func lines(of text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}

/// `torrcOptions` in a Java properties file: tor's options, separated by commas (Bisq 1, `Config.java`, `NewTor.java`).
private struct TorrcOptions {
    private var lines: [Substring]
    /// The index of the line that counts: the last one with that key.
    private let index: Int?
    private var options: [String] = []
    private let source: String

    private static let key = "torrcOptions"

    init(_ text: String, mapping source: String) throws(ConfigurationEditError) {
        self.source = source
        lines = PointedSettings.lines(of: text)
        index = lines.lastIndex { TorrcOptions.value(of: $0) != nil }
        guard let index, let value = TorrcOptions.value(of: lines[index]) else { return }
        guard !value.hasSuffix("\\") else { throw .continuedLine(number: index + 1) }
        options = value.split(separator: ",").map { String($0.trimmed) }.filter { !$0.isEmpty }
        guard !options.contains(where: { isMap($0) && !isOurs($0) }) else {
            throw .otherMapAddress(number: index + 1)
        }
    }

    /// Returns the file's text with this option; `nil` takes it out.
    func with(_ option: String?) throws(ConfigurationEditError) -> String {
        guard option != nil || options.contains(where: isOurs) else { throw .notPointed }
        let kept = options.filter { !isOurs($0) } + (option.map { [$0] } ?? [])
        let line = "\(TorrcOptions.key)=\(kept.joined(separator: ","))"
        var lines = lines
        if let index {
            if kept.isEmpty { lines.remove(at: index) } else { lines[index] = line[...] }
        } else {
            // In front of what follows the last line's end.
            lines.insert(line[...], at: lines.last == "" ? lines.count - 1 : lines.count)
            if lines.last != "" { lines.append("") }
        }
        return lines.joined(separator: "\n")
    }

    private func isMap(_ option: String) -> Bool { option.lowercased().hasPrefix("mapaddress ") }

    private func isOurs(_ option: String) -> Bool {
        isMap(option) && option.lowercased().dropFirst("mapaddress ".count).trimmed.hasPrefix(source)
    }

    /// Returns the text behind the key; `nil` for other lines. Key and value are separated by `=`, `:` or a blank.
    private static func value(of line: Substring) -> Substring? {
        let line = line.trimmed
        guard line.hasPrefix(key) else { return nil }
        let rest = line.dropFirst(key.count)
        guard let first = rest.first, first == "=" || first == ":" || first.isWhitespace else { return nil }
        let value = rest.trimmed
        return value.first == "=" || value.first == ":" ? value.dropFirst().trimmed : value
    }
}

/// Lines between two comments, at the end of a HOCON file: what comes last counts.
private enum MarkedBlock {
    private static let begin = "# Onionbell begins. Take it out with: onionbell point bisq2 --undo DIR"
    private static let end = "# Onionbell ends"

    static func add(_ block: [String], to text: String) -> String {
        var lines = PointedSettings.lines(of: text)
        let block = ([begin] + block + [end]).map { $0[...] }
        if let place = place(in: lines) {
            lines.replaceSubrange(place, with: block)
            return lines.joined(separator: "\n")
        }
        // A file may have braces around all of it.
        let content = lines.map(\.trimmed).filter { !$0.isEmpty && !$0.hasPrefix("#") && !$0.hasPrefix("//") }
        if content.first?.hasPrefix("{") == true, let last = lines.lastIndex(where: { $0.trimmed == "}" }) {
            lines.insert(contentsOf: block, at: last)
            return lines.joined(separator: "\n")
        }
        if lines.last == "" { lines.removeLast() }
        return (lines + block + [""]).joined(separator: "\n")
    }

    static func remove(from text: String) throws(ConfigurationEditError) -> String {
        var lines = PointedSettings.lines(of: text)
        guard let place = place(in: lines) else {
            // Not by `contains`, which brings the code of regular expressions into the node.
            let bytes = text.utf8
            guard bytes.indices.contains(where: { bytes[$0...].starts(with: "mobileNotifications".utf8) })
            else {
                throw .notPointed
            }
            throw .linesMoved(key: PointedSettings.bisq2Key)
        }
        lines.removeSubrange(place)
        return lines.joined(separator: "\n")
    }

    private static func place(in lines: [Substring]) -> ClosedRange<Int>? {
        guard let first = lines.firstIndex(where: { $0.trimmed == begin }),
            let last = lines[first...].firstIndex(where: { $0.trimmed == end })
        else { return nil }
        return first...last
    }
}

extension Substring {
    /// The text without white space around it.
    fileprivate var trimmed: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
