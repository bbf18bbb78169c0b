/// The difference of two texts by their lines, for people: what goes, what comes, and a little around it.
package enum TextDiff {
    package struct Line: Equatable, Sendable {
        package enum Kind: String, Sendable { case same, removed, added }

        package let kind: Kind
        package let text: String
    }

    /// Lines of both texts together that are compared one with the other: the time can grow with the square.
    private static let mostCompared = 2000
    /// The most lines of an answer.
    private static let mostLines = 1200

    /// Returns the lines that differ, and those near them.
    ///
    /// - Parameter around: The number of unchanged lines that are shown on each side of a change.
    package static func lines(from old: String, to new: String, around: Int = 2) -> [Line] {
        let (before, after) = (split(old), split(new))
        var start = 0
        while start < min(before.count, after.count), before[start] == after[start] { start += 1 }
        var (endBefore, endAfter) = (before.count, after.count)
        while endBefore > start, endAfter > start, before[endBefore - 1] == after[endAfter - 1] {
            endBefore -= 1
            endAfter -= 1
        }
        let middle = compare(Array(before[start..<endBefore]), Array(after[start..<endAfter]))
        let all =
            before[..<start].map { Line(kind: .same, text: $0.wrappedValue) } + middle
            + before[endBefore...].map { Line(kind: .same, text: $0.wrappedValue) }
        return Array(near(all, around).prefix(mostLines))
    }

    private static func split(_ text: String) -> [ByteText] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            ByteText(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Compares by the longest common subsequence; what is too long for that goes as a whole and comes as a
    /// whole.
    private static func compare(_ before: [ByteText], _ after: [ByteText]) -> [Line] {
        guard before.count + after.count <= mostCompared else {
            return before.map { Line(kind: .removed, text: $0.wrappedValue) }
                + after.map { Line(kind: .added, text: $0.wrappedValue) }
        }
        var isRemoved = [Bool](repeating: false, count: before.count)
        var isAdded = [Bool](repeating: false, count: after.count)
        for change in after.difference(from: before) {
            switch change {
            case .remove(let offset, _, _): isRemoved[offset] = true
            case .insert(let offset, _, _): isAdded[offset] = true
            }
        }
        var lines: [Line] = []
        var (row, column) = (0, 0)
        while row < before.count || column < after.count {
            if row < before.count, isRemoved[row] {
                lines.append(Line(kind: .removed, text: before[row].wrappedValue))
                row += 1
            } else if column < after.count, isAdded[column] {
                lines.append(Line(kind: .added, text: after[column].wrappedValue))
                column += 1
            } else {
                lines.append(Line(kind: .same, text: before[row].wrappedValue))
                row += 1
                column += 1
            }
        }
        return lines
    }

    /// Returns the lines without what is far from any change.
    private static func near(_ lines: [Line], _ around: Int) -> [Line] {
        var isNear = [Bool](repeating: false, count: lines.count)
        for (index, line) in lines.enumerated() where line.kind != .same {
            for near in max(0, index - around)...min(lines.count - 1, index + around) { isNear[near] = true }
        }
        return zip(lines, isNear).compactMap { $1 ? $0 : nil }
    }
}
