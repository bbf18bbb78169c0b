import FeatureList
import Glibc
import Node
import Processes
import Reactor

/// `onionbelld`: the node, and nothing that only commands need.
@main
enum Onionbelld {
    static let help = """
        The node of Onionbell, a push relay that is reached over Tor.

        Usage: onionbelld [--config FILE]

          --config FILE  the configuration file; without it \(Settings.standardFile)
          --check-start --config FILE [--serving PLACE ...]
                         say whether a start would succeed, and start nothing; the places are those of a node that runs
          --version      print the version, the commit and the libraries
          --help         print this

        Prints the onion address once it can be reached. SIGTERM and SIGINT stop the node in order, within 10 seconds. On
        SIGHUP the node reads changed credentials at once, and retries what a gateway has blocked.

        Exit status: 0 stopped, 64 a wrong option, 69 something that it needs is missing or in use, 78 configuration.
        """

    /// Begins on the main thread, since until then there is no other.
    @MainActor
    static func main() async {
        ThisProcess.shareHeap()
        switch StartOptions(Array(CommandLine.arguments.dropFirst())) {
        case .run(let configuration):
            exit(await NodeProcess.run(configuration: configuration, features: .built))
        case .check(let configuration, let serving):
            exit(await StartCheck.run(configuration: configuration, serving: serving, features: .built))
        case .help: printLine(help)
        case .version: printLine(VersionText.text(of: .built))
        case .wrong(let sentence):
            printError("onionbelld: \(sentence)\nUsage: onionbelld [--config FILE]")
            exit(64)
        }
    }
}
