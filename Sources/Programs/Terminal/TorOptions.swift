import ArgumentParser
import Node
import Reactor

/// The options that say by which tor a command reaches a node.
package struct TorOptions: ParsableArguments {
    package init() {}

    @Option(help: ArgumentHelp("Tor's SOCKS port.", valueName: "address:port|unix:path"))
    package var socks = "127.0.0.1:9050"

    @Option(
        help: ArgumentHelp("Start this tor program, and use it instead of --socks.", valueName: "program"))
    package var tor: String?

    @Option(
        help: ArgumentHelp(
            "The configuration of that tor; by default the one installed with the program.", valueName: "file"
        ))
    package var torrc = ""

    package func validate() throws {
        if tor == nil, !torrc.isEmpty { throw ValidationError("--torrc is for --tor") }
    }

    /// Returns the tor that the options name.
    ///
    /// - Parameter directory: The directory in which a tor of the command's own keeps what it knows; `nil`: nowhere.
    package func source(keptIn directory: String? = nil) throws -> WatchTor.Source {
        guard let proxy = Endpoint(socks) else {
            throw fail("--socks must be ADDRESS:PORT or unix:PATH", status: 64)
        }
        guard let tor else { return .socks(proxy) }
        do {
            return .own(
                binary: tor, torrc: try TorConfiguration.path(setting: torrc), directory: directory)
        } catch {
            throw fail(error, status: error.exitStatus)
        }
    }
}
