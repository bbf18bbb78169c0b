import ArgumentParser
import Encodings
import FeatureList
import Glibc
import Node
import Processes

/// The configuration file of a command.
package struct ConfigOption: ParsableArguments {
    package init() {}

    @Option(
        name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"),
        completion: .file())
    package var config = Settings.standardFile

    /// The option that a printed command needs to mean the same configuration; empty for the standard one.
    package var words: String {
        guard config != Settings.standardFile else { return "" }
        let isPlain = config.utf8.allSatisfy {
            ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "/") | ASCII.equal($0, ".")
                | ASCII.equal($0, "-")
                | ASCII.equal($0, "_") == 1
        }
        return isPlain ? " --config \(config)" : " --config '\(config.replacing("'", with: #"'\''"#))'"
    }

    /// Returns a command as the person who ran this one can run it: the node's user is often reached by
    /// `sudo`.
    package func command(_ words: String) -> String {
        let sudo = environment["SUDO_USER"] != nil && geteuid() != 0
        let user = sudo ? environment["USER"].map { "sudo -u \($0) " } ?? "" : ""
        return "\(user)onionbell \(words)\(self.words)"
    }

    /// Lets root go on as who may change the settings (``SettingsOwner``): for a command that starts a
    /// program that they name.
    package func becomeOwner() throws {
        guard let fault = SettingsOwner.become(of: config) else { return }
        throw fail(fault, status: 77)
    }

    /// Reads the settings and checks them; every fault is printed, and the exit status is 78.
    package func settings() throws -> Settings {
        do {
            return try Settings(file: config, environment: environment, features: .built)
        } catch {
            throw fail(error, status: 78)
        }
    }
}
