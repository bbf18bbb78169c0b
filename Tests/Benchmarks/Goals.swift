import Foundation

/// The goals of `Deploy/tools/bench-goals.json`: of a figure at most so much, and how much will do if need be.
struct Goals {
    struct Goal: Equatable {
        let goal: Double
        let least: Double?
    }

    enum Verdict: String {
        case met
        /// Not the goal, but what will do.
        case least
        case notMet = "not met"
        /// Other work had a part of the cores, so the figure says nothing.
        case starved
    }

    private let goals: [String: Goal]

    static let none = Goals(goals: [:])

    private init(goals: [String: Goal]) { self.goals = goals }

    /// - Parameter file: JSON; by a figure's name one number or two.
    init(file: String) throws {
        try self.init(
            JSONDecoder().decode([String: [Double]].self, from: Data(contentsOf: URL(fileURLWithPath: file))))
    }

    init(_ rows: [String: [Double]]) throws {
        goals = try rows.mapValues {
            guard let goal = $0.first, $0.count <= 2 else { throw BenchError("a goal is one number or two") }
            return Goal(goal: goal, least: $0.count == 2 ? $0[1] : nil)
        }
    }

    var names: [String] { goals.keys.sorted() }

    subscript(name: String) -> Goal? { goals[name] }

    func verdict(of figure: Figure) -> Verdict? {
        guard let goal = goals[figure.name] else { return nil }
        if figure.isStarved == true { return .starved }
        if figure.median <= goal.goal { return .met }
        return goal.least.map { figure.median <= $0 } == true ? .least : .notMet
    }
}
