import Reactor

/// The built program as a node.
@EventLoop
package final class LabNode: LabProgram {
    /// Lines of it that hold a device token, a uid or a message; there must be none.
    package var indiscretions: [String] { SentValues.shared.lines(in: lines) }

    /// Starts the node with a configuration.
    ///
    /// - Parameters:
    ///   - program: the `onionbelld` binary.
    ///   - arguments: those before `--config`.
    ///   - environment: `KEY=value` each; `nil`: this process' own.
    package init(
        _ program: String, arguments: [String] = [], configuration: String, environment: [String]? = nil
    ) throws(SystemError) {
        SentValues.shared.watchClients()
        try super.init(
            [program] + arguments + ["--config", configuration], environment: environment)
    }

    /// Returns the line that the node prints when its onion service can be reached; `nil` if it ended before.
    package func publishedLine() async -> String? {
        let published = { (node: LabProgram) in
            node.lines.first { $0.hasPrefix("onionbell: ") && $0.contains(".onion") }
        }
        await wait { published($0) != nil || $0.exit != nil }
        return published(self)
    }
}
