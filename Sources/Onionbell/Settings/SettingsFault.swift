/// Something wrong in the configuration: where, what, and what is allowed there.
struct SettingsFault: Error, Equatable, CustomStringConvertible {
    /// `tor.mode`, `apps[1].key_file`; empty for the file as a whole.
    var key: String
    /// In the file; `nil` for a value from the environment and for what is missing.
    var line: Int?
    var problem: String

    var description: String {
        let place = line.map { "line \($0): " } ?? ""
        return place + (key.isEmpty ? problem : "\(key): \(problem)")
    }
}

/// All that is wrong with a configuration.
struct SettingsError: Error, CustomStringConvertible {
    var file: String
    var faults: [SettingsFault]

    var description: String {
        (["\(file): \(faults.count == 1 ? "one fault" : "\(faults.count) faults")"] + faults.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

/// The known name that was probably meant: the one that takes the fewest edits, if they are few.
func nearestName(to name: String, among known: some Sequence<String>) -> String? {
    let nearest = known.map { (name: $0, edits: editDistance(name, $0)) }.min { $0.edits < $1.edits }
    guard let nearest, nearest.edits <= max(2, name.count / 2) else { return nil }
    return nearest.name
}

/// Insertions, deletions and replacements that turn one word into the other (Levenshtein).
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
