import ArgumentParser
import Lab
import Processes

/// `onionbell-lab`: everything that only pretends: the simulated gateways and the private Tor network.
@main
struct OnionbellLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onionbell-lab",
        abstract: "Try Onionbell on this machine: simulated gateways, phones and a private Tor network.",
        version: programVersion,
        subcommands: [DemoCommand.self, LabCommand.self])
}

/// Returns the path of the torrc that comes with the programs.
func installedTorrc() throws(LabError) -> String {
    guard let path = InstalledFile.path("torrc", source: "torrc") else {
        throw .notInstalled(InstalledFile.absence(of: "torrc"))
    }
    return path
}
