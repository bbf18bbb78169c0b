import ArgumentParser

/// The project's benchmark: `measure` runs all of it (`Deploy/tools/bench` builds and calls it), the others are its parts and
/// can be run by hand, for a profile of the node for example.
@main
struct OnionbellBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onionbell-bench",
        abstract: "Measures a node on loopback.",
        subcommands: [
            MeasureCommand.self, GatewayCommand.self, PeersCommand.self, HTTPCommand.self, IdleCommand.self,
            ReadersCommand.self, SendCommand.self,
        ])
}
