import Foundation
import Glibc
import Lab
import LabParts
import Reactor
import Testing

/// A real systemd with a node as its only service: the first process of a namespace of its own, with this machine's files.
/// The unit has those lines of the package's that decide about starts, ends and the store.
@EventLoop
final class ServiceManagerStage {
    /// Why there can be none here; `nil`: there can.
    nonisolated static let obstacle: String? = {
        guard geteuid() == 0 else { return "only root can start a systemd of its own" }
        guard access("/lib/systemd/systemd", X_OK) == 0 else { return "systemd is not installed" }
        let try_ = try? run(["unshare", "--mount", "--pid", "--fork", "--cgroup", "true"])
        return try_?.status == 0 ? nil : "no namespaces can be made here"
    }()

    /// No other systemd of this machine has a unit of that name: the kernel may show both one tree of control groups.
    nonisolated private static let unit = "onionbell-test-\(getpid()).service"

    /// The lines of the node's log, of all its processes.
    var lines: [String] { log.lines }

    private let manager: LabProgram
    private let log: LabProgram
    private let first: Int32

    init(_ directory: LabDirectory, configuration: String) async throws {
        let path = try directory.make("systemd")
        _ = try directory.make("systemd/units")
        _ = try directory.make("systemd/none")
        let unit = URL(filePath: projectTorrc).deletingLastPathComponent()
            .appending(path: "Deploy/system/onionbell.service")
        let kept = [
            "StartLimitIntervalSec=", "Type=", "WatchdogSec=", "FileDescriptorStoreMax=",
            "Environment=FDSTORE",
            "Restart", "SuccessExitStatus=", "KillMode=", "TimeoutStopSec=",
        ]
        let text = try String(contentsOf: unit, encoding: .utf8)
        func lines(_ section: Substring) -> String {
            section.split(separator: "\n").filter { line in kept.contains { line.hasPrefix($0) } }
                .joined(separator: "\n")
        }
        let sections = text.split(separator: "\n[Service]\n")
        try #require(sections.count == 2)
        let output = path + "/log"
        try LabDirectory.write([], to: output)
        try LabDirectory.write(
            Array(
                """
                [Unit]
                DefaultDependencies=no
                \(lines(sections[0]))
                [Service]
                \(lines(sections[1]))
                ExecStart=\(nodeProgram) --config \(configuration)
                StandardOutput=append:\(output)
                StandardError=append:\(output)

                """.utf8), to: path + "/units/\(ServiceManagerStage.unit)")
        try LabDirectory.write(
            Array("[Unit]\nDefaultDependencies=no\n".utf8), to: path + "/units/alone.target")
        // No file of this machine's systemd is read but its programs.
        let script = """
            mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /run || exit 1
            if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
                mount -t cgroup2 cgroup2 /sys/fs/cgroup
            else
                mount -t tmpfs tmpfs /sys/fs/cgroup && mkdir /sys/fs/cgroup/systemd
                mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
            fi
            exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH='\(path)/units' \
                SYSTEMD_GENERATOR_PATH='\(path)/none' SYSTEMD_ENVIRONMENT_GENERATOR_PATH='\(path)/none' \
                /lib/systemd/systemd --system --unit=alone.target --log-target=null --show-status=no
            """
        let manager = try LabProgram([
            "unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--cgroup", "sh", "-c",
            script,
        ])
        let process = try #require(manager.processID)
        var first: Int32?
        try await until {
            first = try children(of: process).first
            guard manager.exit == nil, let first else { return manager.exit != nil }
            return try ServiceManagerStage.inside(first, ["systemctl", "is-system-running"]).status == 0
        }
        self.first = try #require(first, "\(manager.lines)")
        self.manager = manager
        log = try LabProgram(["tail", "-n", "+1", "-F", output])
    }

    nonisolated private static func inside(_ first: Int32, _ words: [String]) throws -> CommandResult {
        try run(
            ["nsenter", "--target", "\(first)", "--mount", "--pid", "--uts", "--ipc", "--root", "--wd"]
                + words)
    }

    /// Has systemd do something with the unit, and returns when it is done.
    func systemctl(_ words: String...) async throws -> String {
        let first = first
        let result = try await Task.detached {
            try ServiceManagerStage.inside(first, ["systemctl"] + words + [ServiceManagerStage.unit])
        }.value
        try #require(result.status == 0, "systemctl \(words): \(result)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The number of descriptors in the store.
    func stored() async throws -> Int {
        try #require(Int(try await systemctl("show", "-p", "NFileDescriptorStore", "--value")))
    }

    /// Waits until so many lines of the log have these words.
    func logged(_ words: String, count: Int) async {
        await log.wait { $0.exit != nil || $0.lines.count { $0.contains(words) } >= count }
    }

    func close() async {
        await log.kill()
        // With the first process all others of the namespace end.
        kill(first, SIGKILL)
        await manager.wait { $0.exit != nil }
    }
}

private func children(of process: Int32) throws -> [Int32] {
    try run(["pgrep", "-P", "\(process)"]).output.split(separator: "\n").compactMap { Int32($0) }
}
