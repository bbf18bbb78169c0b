import ArgumentParser
import JSONCoding
import Logging
import Node
import Programs
import Reactor

/// `onionbell check-config`: reads the configuration and the files it names, and tells every fault.
struct CheckConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration and the files that it names, and report all errors.",
        discussion: """
            With --json an array of errors on standard output: key, line (null if a key is missing or comes from the \
            environment), problem.

            Exit status: 0 no error, 78 an error.

            Example: onionbell check-config --config node.yaml
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "As JSON.")
    var json = false

    func run() async throws {
        let settings: Settings
        do {
            settings = try Settings(file: config.config, environment: environment)
        } catch {
            throw failure(error)
        }
        let closed = settings.closedCredentials
        let faults =
            await GatewayAssembly.faults(in: settings, except: closed) + settings.missingPlaces
            + settings.frontFaults + [await TorrcCheck.fault(in: settings)].compactMap(\.self)
        guard faults.isEmpty else { throw failure(SettingsError(file: config.config, faults: faults)) }
        guard !json else { return printLine("[]") }
        printLine("\(config.config): no errors")
        for path in closed { printLine("  not checked, because this user may not read it: \(path)") }
        for app in settings.apps {
            guard let doubt = app.settings.doubt else { continue }
            printLine("  \(app.name): \(doubt.words): \(doubt.advice)")
        }
        for app in settings.apps where !app.hasCredentials {
            printLine("  \(app.name): disabled, because it has no credentials")
        }
        for endpoint in settings.openEndpoints { printLine("  \(endpoint)") }
        for warning in settings.warnings { printLine("  \(warning.words): \(warning.advice)") }
        if settings.apps.isEmpty {
            printLine("  no apps: every notification will be refused; onionbell init --bisq needs no account")
        }
    }

    private func failure(_ error: SettingsError) -> ExitCode {
        guard json else { return fail(error, status: 78) }
        printLine("[\n" + error.faults.map(\.json).joined(separator: ",\n") + "\n]")
        return ExitCode(78)
    }
}

extension SettingsFault {
    /// One object.
    fileprivate var json: String {
        var text: [UInt8] = Array(#"{"key":"#.utf8)
        text.append(jsonString: key)
        text += Array(#","line":\#(line.map(String.init) ?? "null"),"problem":"#.utf8)
        text.append(jsonString: problem)
        return String(decoding: text + [UInt8(ascii: "}")], as: UTF8.self)
    }
}
