import Processes

/// Finds the `torrc` that comes with the program.
package enum TorConfiguration {
    /// Returns the path of the torrc that was set; else of the one installed beside the program; else of the
    /// one in the checkout that it was built in.
    package static func path(setting: String) throws(NodeError) -> String {
        if !setting.isEmpty { return setting }
        guard let found = InstalledFile.path("torrc", source: "torrc") else {
            throw .configuration(
                "no torrc: \(InstalledFile.absence(of: "torrc")), or set tor.torrc to its path")
        }
        return found
    }
}
