/// A table for a terminal.
enum Table {
    /// The first row is the head; all have the same number of cells.
    static func lines(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { index, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + blanks : blanks + cell.0
            }.joined(separator: "  ")
        }
    }

    /// Of times in nanoseconds; `-` where there is none.
    static func medianAndLongest(_ times: [Int64]) -> [String] {
        let sorted = times.sorted()
        guard let longest = sorted.last else { return ["-", "-"] }
        return ["\(sorted[sorted.count / 2].seconds) s", "\(longest.seconds) s"]
    }
}
