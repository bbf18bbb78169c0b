import Foundation

/// One figure of the table, measured several times.
struct Figure: Codable {
    /// Stays the same from version to version: what `--compare` goes by.
    let name: String
    let unit: String
    var values: [Double]
    /// Whether other work had a part of the cores in all rounds; `nil` in results from before this was looked at.
    var isStarved: Bool?

    /// Whether other work on the cores changes it, as it does a time. Memory and instructions stay as they are.
    var isOfTime: Bool { !["MB", "KiB", "a notif."].contains(unit) }

    var median: Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// A run of the benchmark: what is printed, and what is kept in a file.
struct Results: Codable {
    var date = ISO8601DateFormatter().string(from: Date())
    var machine: String
    var isQuick: Bool
    private(set) var figures: [Figure] = []

    init(isQuick: Bool) {
        self.isQuick = isQuick
        let cpu = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
            .first { $0.hasPrefix("model name") }?.split(separator: ":").last
        machine =
            "\(ProcessInfo.processInfo.activeProcessorCount) x \(cpu?.trimmingCharacters(in: .whitespaces) ?? "?")"
    }

    mutating func add(_ name: String, _ unit: String, _ value: Double) {
        if let index = figures.firstIndex(where: { $0.name == name }) {
            figures[index].values.append(value)
        } else {
            figures.append(Figure(name: name, unit: unit, values: [value]))
        }
    }

    /// Takes over one round of a row. What was measured while other work had the cores counts only as long as there is
    /// nothing better.
    mutating func take(_ round: Results, isStarved: Bool) {
        for var figure in round.figures {
            figure.isStarved = isStarved && figure.isOfTime
            guard let index = figures.firstIndex(where: { $0.name == figure.name }) else {
                figures.append(figure)
                continue
            }
            if figures[index].isStarved == figure.isStarved {
                figures[index].values += figure.values
            } else if figure.isStarved == false {
                figures[index] = figure
            }
        }
    }

    /// Adds a ratio of medians.
    mutating func addRatio(_ name: String, of above: String, to below: String) {
        guard let above = figures.first(where: { $0.name == above }),
            let below = figures.first(where: { $0.name == below }), below.median > 0
        else { return }
        figures.append(
            Figure(
                name: name, unit: "times", values: [above.median / below.median],
                isStarved: above.isStarved == true || below.isStarved == true))
    }

    /// A sentence for each figure above its limit, and for each limit that nothing was measured for. The least of the
    /// rounds counts: what else runs on the machine only ever adds to it, so what starved is within its limit or not judged.
    func faults(over limits: [String: Double]) -> [String] {
        limits.sorted { $0.key < $1.key }.compactMap { name, limit in
            guard let figure = figures.first(where: { $0.name == name }) else {
                return "\(name): not measured"
            }
            let least = figure.values.min() ?? .infinity
            if least <= limit { return nil }
            return "\(name): \(text(least)) \(figure.unit); the limit is \(text(limit))"
                + (figure.isStarved == true ? ", but other work had the cores: run it again" : "")
        }
    }

    /// The table; with earlier results, a column that says how many times theirs each median is.
    func table(_ goals: Goals, comparedWith earlier: Results?) -> String {
        let width = figures.map(\.name.count).max() ?? 0
        var lines = [
            "\(machine), \(date)\(isQuick ? ", quick" : "")", "",
            row(
                "", "unit",
                ["median", "least", "most", "goal", "at least", "", earlier == nil ? "" : "x earlier"], width),
        ]
        for figure in figures {
            let before = earlier?.figures.first { $0.name == figure.name }?.median
            let goal = goals[figure.name]
            lines.append(
                row(
                    figure.name, figure.unit,
                    [
                        text(figure.median), text(figure.values.min() ?? 0), text(figure.values.max() ?? 0),
                        goal.map { text($0.goal) } ?? "", goal?.least.map { text($0) } ?? "",
                        goals.verdict(of: figure)?.rawValue ?? "",
                        before.map { $0 > 0 ? text(figure.median / $0) : "" } ?? "",
                    ], width))
        }
        return lines.joined(separator: "\n")
    }

    /// One line that counts; of a whole run also the goals that nothing was measured for.
    func verdicts(_ goals: Goals, isWhole: Bool) -> String {
        let verdicts = figures.compactMap { goals.verdict(of: $0) }
        func count(_ verdict: Goals.Verdict) -> Int { verdicts.filter { $0 == verdict }.count }
        let measured = Set(figures.map(\.name))
        let missing = goals.names.filter { !measured.contains($0) }
        return "Goals: \(count(.met)) met, \(count(.least)) at least, \(count(.notMet)) not met, "
            + "\(count(.starved)) starved, "
            + "\(missing.count) not measured"
            + (missing.isEmpty || !isWhole ? "" : ":\n  " + missing.joined(separator: "\n  "))
    }

    private func row(_ name: String, _ unit: String, _ cells: [String], _ width: Int) -> String {
        name.padded(to: width) + "  " + unit.padded(to: 12)
            + cells.map { $0.padded(to: 9, left: true) }.joined(separator: " ")
    }

    private func text(_ value: Double) -> String {
        switch abs(value) {
        case 0: "0"
        case ..<0.1: String(format: "%.4f", value)
        case ..<10: String(format: "%.3f", value)
        case ..<1000: String(format: "%.1f", value)
        default: String(format: "%.0f", value)
        }
    }
}

extension String {
    fileprivate func padded(to width: Int, left: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return left ? blanks + self : self + blanks
    }
}
