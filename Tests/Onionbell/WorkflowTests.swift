import Foundation
import Testing

/// What a stranger's pull request gets of the machines that check it.
@Suite struct WorkflowTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The jobs of a workflow by their names.
    private static func jobs(_ text: String) -> [(name: String, text: String)] {
        var jobs: [(name: String, text: String)] = []
        for line in (text.components(separatedBy: "\njobs:\n").last ?? "").split(separator: "\n") {
            if line.wholeMatch(of: #/  [a-z]+:/#) != nil { jobs.append((String(line), "")) }
            if !jobs.isEmpty { jobs[jobs.count - 1].text += line + "\n" }
        }
        return jobs
    }

    @Test(arguments: [".github/workflows/check.yml", ".forgejo/workflows/check.yml"])
    func aPullRequestGetsNothing(file: String) throws {
        let text = try Self.text(file)
        #expect(text.contains("\npermissions:\n  contents: read\n") && !text.contains("write"))
        #expect(!text.contains("pull_request_target") && !text.contains("secrets."))
        // What the forge fills in goes through the environment, so that no name of a branch is run as a command.
        #expect(!text.contains("${{"))
        // Neither a tag nor a branch of others: an image by its digest, and no action at all.
        #expect(!text.contains("uses:"))
        let images = text.matches(of: #/(?:container|image): (\S+)/#).map(\.output.1)
        let jobs = Self.jobs(text)
        #expect(jobs.count >= 2 && images.count == jobs.count)
        for image in images { #expect(image.contains(/@sha256:[0-9a-f]{64}$/), "\(image)") }
        for job in jobs where job.text.contains("privileged") {
            #expect(job.text.contains("\n    if: github.event_name == 'push'\n"), "\(job.name)")
        }
    }

    /// Forgejo's runner is a machine of the project's own, and whoever opens a pull request can change this file.
    @Test func noJobOnAMachineOfOursIsPrivileged() throws {
        let jobs = Self.jobs(try Self.text(".forgejo/workflows/check.yml"))
        #expect(!jobs.isEmpty && jobs.allSatisfy { !$0.text.contains("privileged") })
    }
}
