import ArgumentParser
import Processes
import Terminal

/// `onionbell lab`: goes on as `onionbell-lab lab`, which has the options and the help.
struct LabForwarding: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lab",
        abstract:
            "Rehearse: run a private Tor network and simulated servers of Apple, Google and Bisq until stopped.",
        discussion: "Runs onionbell-lab, which is in its own package. See onionbell lab --help.",
        helpNames: [])

    @Argument(parsing: .captureForPassthrough, help: .hidden) var words: [String] = []

    func run() throws { try becomeLab("lab", words) }
}

/// `onionbell demo`: goes on as `onionbell-lab demo`.
struct DemoForwarding: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract:
            "Demonstrate everything on this machine: private Tor network, node, phones, peer, gateways.",
        discussion: "Runs onionbell-lab, which is in its own package. See onionbell demo --help.",
        helpNames: [])

    @Argument(parsing: .captureForPassthrough, help: .hidden) var words: [String] = []

    func run() throws { try becomeLab("demo", words) }
}

private func becomeLab(_ command: String, _ words: [String]) throws -> Never {
    let reason = ProgramBeside("onionbell-lab").replaceThisProcess(arguments: [command] + words)
    throw fail("\(reason). Install the package onionbell-lab", status: 69)
}
