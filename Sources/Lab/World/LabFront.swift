import Glibc
import Reactor

/// A real onionbalance with a tor of its own in the private Tor network: it publishes one address that leads to several
/// nodes.
@EventLoop
package final class LabFront {
    package let program: LabProgram
    private let tor: LabTor
    private let directory: LabDirectory

    /// Onionbalance's own code, with short waits. It wants eight directories for each descriptor; here are fewer relays,
    /// which all get it. Directories take no descriptor of an address with a lower number than the one they have, and tor
    /// and onionbalance both number by the time, but by different random steps: so it is a while later here.
    private static let code = """
        from onionbalance.hs_v3 import params
        params.INITIAL_CALLBACK_DELAY = 1
        params.FETCH_DESCRIPTOR_FREQUENCY = 3
        params.PUBLISH_DESCRIPTOR_CHECK_FREQUENCY = 1
        params.FRONTEND_DESCRIPTOR_LIFETIME = 10
        params.INSTANCE_DESCRIPTOR_TOO_OLD = 60
        from onionbalance.hs_v3 import hashring
        from onionbalance.hs_v3.onionbalance import my_onionbalance
        hashring.get_responsible_hsdirs = lambda *of: list(my_onionbalance.consensus.get_routerstatuses())
        from onionbalance.hs_v3.descriptor import OBDescriptor
        number = OBDescriptor._get_revision_counter
        OBDescriptor._get_revision_counter = lambda *of: number(*of) + 7200 * 32768
        from onionbalance.manager import main
        main()
        """

    /// Whether Debian's package is here.
    package nonisolated static var isInstalled: Bool {
        access("/usr/lib/python3/dist-packages/onionbalance/__init__.py", R_OK) == 0
    }

    /// Starts onionbalance, with a tor of its own.
    ///
    /// - Parameters:
    ///   - key: the file with the key of the address, in tor's format.
    ///   - nodes: the own addresses of the nodes behind it.
    package static func start(
        key: String, to nodes: [String], in network: PrivateTorNetwork
    ) async throws(LabError) -> LabFront {
        guard isInstalled else { throw .missing("onionbalance", package: "onionbalance") }
        let tor = try await network.startTor()
        let directory = try LabDirectory()
        let file = directory.path + "/config.yaml"
        let lines = ["services:", "- key: \(key)", "  instances:"] + nodes.map { "  - address: \($0)" }
        try LabDirectory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: file)
        let words = ["-s", tor.dataDirectory + "/control", "-c", file, "-v", "info"]
        do {
            let program = try LabProgram(["/usr/bin/python3", "-c", code] + words)
            return LabFront(program, tor, directory)
        } catch {
            throw .files(error)
        }
    }

    private init(_ program: LabProgram, _ tor: LabTor, _ directory: LabDirectory) {
        self.program = program
        self.tor = tor
        self.directory = directory
    }

    /// Returns when onionbalance has published introduction points of this number of nodes; throws what it
    /// said when it has not.
    ///
    /// - Parameters:
    ///   - node: the own address of a node that has published others since: onionbalance must have read that
    ///     node's descriptor twice. It compares introduction points by the keys of their relays, and so may
    ///     say of others that none has changed.
    ///   - lines: the number of onionbalance's first lines that do not count.
    package func published(
        _ nodes: Int, anew node: String? = nil, after lines: Int = 0
    ) async throws(LabError) {
        let read = node.map { ["Initiating fetch", "new descriptor for instance \($0.dropLast(6)) "] } ?? []
        let words =
            read + read + [
                "intros from \(nodes) instances", "Uploading first descriptor",
                "Uploading second descriptor",
            ]
        func missing() -> ArraySlice<String> {
            program.lines.dropFirst(lines).reduce(words[...]) { left, line in
                left.first.map(line.contains) == true ? left.dropFirst() : left
            }
        }
        let end = ContinuousClock.now + .seconds(180)
        while let word = missing().first {
            let said = program.lines.suffix(10).joined(separator: "\n")
            if let exit = program.exit { throw .tool(.ended("onionbalance", exit, output: said)) }
            guard ContinuousClock.now < end, !Task.isCancelled else {
                throw .timedOut("\(said)\nThe publishing by onionbalance (\"\(word)\")")
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    package func stop() async {
        await program.kill()
        await tor.kill()
        await directory.remove()
    }
}
