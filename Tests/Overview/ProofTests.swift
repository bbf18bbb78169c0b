import Clocks
import Foundation
import Testing

@testable import Overview

/// What each check has to have seen before it says ok, and what it says when that is long ago. Here is the whole table: a check
/// that is new needs its row.
@Suite struct ProofTests {
    private static let kinds =
        CheckKind.fixed + [.certificate(of: "https"), .certificate(of: "a"), .lane("a")]

    private static let table: [String: Duration?] = [
        "onion": .seconds(90), "self_dial": .seconds(720), "front": .seconds(1440), "tor": .seconds(90),
        "outbox": .seconds(600), "nodes": .seconds(30), "database": .seconds(30), "disk": .seconds(45),
        "https.certificate": .seconds(7200),
        "backlog": nil, "connections": nil, "circuits": nil, "loop": nil, "pushing": nil, "settings": nil,
        "a.certificate": nil, "a": nil,
    ]

    @Test func eachCheckHasItsRow() {
        #expect(Set(Self.kinds.map(\.name)) == Set(Self.table.keys))
        for kind in Self.kinds {
            let holds: Duration? = if case .event(_, let holds) = kind.proof { holds } else { nil }
            #expect(holds == Self.table[kind.name], "\(kind.name)")
        }
    }

    /// The last moment of a proof, the first one after it, and twice its time.
    @Test(arguments: kinds) func nothingIsOkWithoutAProofInItsTime(_ kind: CheckKind) {
        guard case .event(let event, let holds) = kind.proof else {
            return #expect(Check.counted(kind, "x") == .ok(kind, "x"))
        }
        func check(_ age: Duration, hasBeen: Bool = true) -> Check {
            .proven(kind, "x", ProofAge(age, hasBeen: hasBeen))
        }
        let moment = Duration.nanoseconds(1)
        #expect(check(holds) == .ok(kind, "x"))
        let late = check(holds + moment)
        #expect(late.level == .warning && late.advice?.isEmpty == false)
        #expect(late.state == "not known since the last \(event), \(Words.time(holds + moment)) ago: x")
        #expect(check(holds * 2).level == .warning)
        #expect(check(holds * 2 + moment).level == .failing)
        // Of what was never seen nobody knows from the first moment on.
        let never = check(.zero, hasBeen: false)
        #expect(never.level == .warning && never.state.hasPrefix("not known since the start, without a"))
        #expect(check(holds * 2 + moment, hasBeen: false).level == .failing)
    }

    /// Each check of the report itself, when its event is long ago.
    @Test(arguments: [CheckKind.outbox, .nodes, .database, .disk])
    func aReportWhoseEventsAreOldIsRed(_ kind: CheckKind) throws {
        var report = Sample.good
        report.shared?.medianCommit = nil
        func level() -> Check.Level? { report.deliveryChecks.first { $0.kind == kind }?.level }
        #expect(level() == .ok)
        guard case .event(_, let holds) = kind.proof else { throw CancellationError() }
        let old = report.monotonicNow - holds * 2 - .seconds(1)
        (report.outbox.commits.last, report.outbox.diskAnsweredAt) = (old, old)
        #expect(level() == .failing)
        #expect(report.deliveryChecks.first { $0.kind == kind }?.state.contains("not known since") == true)
        (report.outbox.commits.last, report.outbox.diskAnsweredAt) = (nil, nil)
        report.begun = report.monotonicNow - .seconds(1)
        #expect(level() == .warning)
    }

    /// What is refused when it is read anew, and what waits for a restart, is said until it is over.
    @Test func settingsThatAreNotInUseAreSaid() {
        var report = Sample.good
        func check() -> Check? { report.deliveryChecks.first { $0.kind == .settings } }
        #expect(check()?.level == .ok)
        report.settings.restartDue = ["limits.token_rate"]
        #expect(check()?.level == .warning && check()?.state == "a restart is due for limits.token_rate")
        report.settings.note(.settings, refused: "no text")
        report.settings.note(.settings, refused: "still none")
        #expect(check()?.state == "refused, and what was read before stays in use: the settings: still none")
        report.settings.note(.settings, refused: nil)
        report.settings.restartDue = []
        #expect(check()?.level == .ok)
    }

    /// The article has the same table.
    @Test func theArticleSaysWhatEachGreenWordRestsOn() throws {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/WatchingTheNode.md")
            .standardized
        let text = try String(contentsOf: article, encoding: .utf8)
        for kind in CheckKind.fixed {
            let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `\(kind.name)` |") }
            #expect(rows.count == 1, "\(kind.name)")
            if case .event(let event, _) = kind.proof {
                #expect(rows.first?.contains(event) == true, "\(kind.name)")
            }
        }
    }
}
