import Encodings

/// Something wrong in the configuration: where, what, and what is allowed there.
package struct SettingsFault: Error, Equatable, CustomStringConvertible {
    /// `tor.mode`, `apps[1].key_file`; empty for the file as a whole.
    package var key: String
    /// The line in the file; `nil` for a value from the environment and for what is missing.
    package var line: Int?
    package var problem: String

    package init(key: String, line: Int? = nil, problem: String) {
        self.key = key
        self.line = line
        self.problem = problem
    }

    package var description: String {
        let place = line.map { "line \($0): " } ?? ""
        return place + (key.isEmpty ? problem : "\(key): \(problem)")
    }

    /// Returns a piece of the file as a message may hold it: without control characters, logins and tokens, and not for
    /// pages.
    package static func shown(_ text: String) -> String {
        let text = text.withoutSecrets
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
        let short = text.count > 64 ? text.prefix(64) + "…" : text[...]
        return isPlain ? String(short) : String(short.debugDescription.dropFirst().dropLast())
    }
}

/// All faults of a configuration, in the order of its lines; those without a line come last.
package struct SettingsError: Error, CustomStringConvertible {
    package let file: String
    package let faults: [SettingsFault]

    package init(file: String, faults: [SettingsFault]) {
        self.file = file
        // By their places where lines are equal, so that the order does not depend on the sort.
        self.faults = faults.enumerated()
            .sorted { ($0.element.line ?? .max, $0.offset) < ($1.element.line ?? .max, $1.offset) }
            .map(\.element)
    }

    /// The most faults that are shown; those beyond that are only counted.
    private static let shownFaults = 100

    package var description: String {
        let count = faults.count == 1 ? "one error" : "\(faults.count) errors"
        let rest = faults.count - Self.shownFaults
        return
            (["\(file): \(count)"] + faults.prefix(Self.shownFaults).map { "  \($0)" }
            + (rest > 0 ? ["  and \(rest) more"] : []))
            .joined(separator: "\n")
    }
}

/// Returns the known name that was probably meant: the one that takes the fewest edits, if they are few.
package func nearestName(to name: String, among known: some Sequence<String>) -> String? {
    // Nobody means one of ours by a name of such a length, and the search would take its time.
    guard name.utf8.count <= 64 else { return nil }
    let nearest = known.map { (name: $0, edits: editDistance(name, $0)) }.min { $0.edits < $1.edits }
    guard let nearest, nearest.edits <= max(2, name.count / 2) else { return nil }
    return nearest.name
}

/// Returns a question for the end of a message, by the known name that was probably meant; empty: there is none.
package func hint(at name: String, among known: some Sequence<String>) -> String {
    nearestName(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
}

/// Counts the insertions, deletions and replacements that turn one word into the other (Levenshtein).
private func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var previous = Array(0...right.count)
    for (row, character) in left.enumerated() {
        var current = [row + 1]
        for (column, other) in right.enumerated() {
            current.append(
                min(
                    previous[column + 1] + 1, current[column] + 1,
                    previous[column] + (character == other ? 0 : 1)))
        }
        previous = current
    }
    return previous[right.count]
}
