import DatabaseEndpoint
import Terminal
import Testing

@testable import DatabaseCommands

/// What the doctor makes of what a database says of itself.
@Suite struct DatabaseFindingsTests {
    @Test func aDatabaseThatMayLoseWhatItWasGivenIsTold() {
        #expect(DatabaseFindings.findings(about: DatabaseReport()).map(\.verdict) == [.pass])
        let cases: [(String, Finding.Verdict, (inout DatabaseReport) -> Void)] = [
            ("storage.fsync", .fail, { $0.fsync = false }),
            ("storage.full_page_writes", .fail, { $0.fullPageWrites = false }),
            ("storage.synchronous_commit", .warn, { $0.synchronousCommit = "off" }),
            ("storage.standby", .warn, { $0.standbys = 2 }),
            ("storage.shards", .warn, { $0.withoutOwner = 1 }),
            ("storage.versions", .warn, { $0.nodes[0].version = "2" }),
            ("storage.lease", .warn, { $0.nodes[1].leaseAge = .seconds(5) }),
            ("storage.clock", .warn, { $0.nodes[1].clockAhead = .seconds(-30) }),
            ("storage.clock", .warn, { $0.clockAhead = .seconds(3600) }),
            ("storage.latency", .warn, { $0.roundTrip = .milliseconds(50) }),
            ("storage.open_transaction", .warn, { $0.holder = .init(name: "process 7", age: 50_000) }),
            (
                "storage.open_transaction", .warn,
                { $0.holder = .init(name: "process 7", age: 1, time: .seconds(300)) }
            ),
            ("storage.dead_rows", .warn, { ($0.deadRows, $0.liveRows) = (100_000, 10_000) }),
        ]
        for (check, verdict, change) in cases {
            var report = DatabaseReport()
            report.synchronousStandbys = 1
            report.standbys = 1
            report.nodes = [1, 2].map { .init(number: $0, name: "host", version: "1") }
            #expect(DatabaseFindings.findings(about: report).map(\.verdict) == [.pass])
            change(&report)
            let findings = DatabaseFindings.findings(about: report)
            #expect(findings.map(\.check) == [check])
            #expect(findings.map(\.verdict) == [verdict])
        }
        // What is short of it is told to nobody; nodes that are gone, and have nothing any more, neither.
        var report = DatabaseReport()
        report.nodes = [1, 2].map { .init(number: $0, name: "host", version: "\($0)") }
        report.nodes[1].leaseAge = .seconds(9)
        report.clockAhead = .milliseconds(29_999)
        report.roundTrip = .milliseconds(49)
        report.holder = .init(name: "process 7", age: 49_999, time: .seconds(299))
        (report.deadRows, report.liveRows) = (100_000, 10_001)
        #expect(DatabaseFindings.findings(about: report).map(\.verdict) == [.pass])
        // Nobody is there who could take them.
        report.nodes = []
        report.withoutOwner = 256
        #expect(DatabaseFindings.findings(about: report).map(\.verdict) == [.pass])
    }
}
