import ArgumentParser
import Client
import Glibc
import JSONCoding
import Node
import Processes
import Reactor
import Terminal
import Wire

/// `onionbell watch`: a node as its peers see it, from another machine.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a node from another machine: send a test notification through Tor.",
        discussion: """
            The notification is for a device token that no phone has. The node stores it and sends it to Apple or \
            Google. Only they can say that the device does not exist. This answer proves that everything works, from \
            the onion address to the credentials. No phone rings.

            Runs once, or with --every until it is stopped. Then --exec runs a shell command when the state changes. \
            ONIONBELL_STATE is well, failing, unreachable or busy, ONIONBELL_REASON is the reason, ONIONBELL_ADDRESS \
            is the node.

            Exit status: 0 everything works, 1 the notification was not delivered as expected, 64 usage, 69 the node \
            was not reached, 75 the node has no room, 78 there is no torrc for --tor.

            Example: onionbell watch --to ADDRESS.onion --every 5m
            """)

    @Option(
        help: ArgumentHelp("The node's address; the default port is 9999.", valueName: "onion[:port]"))
    var to: String

    @Option(help: ArgumentHelp("The kind of phone to simulate.", valueName: "platform"))
    var platform = PhoneKind.iOS

    @Option(help: "The name of the app at the node; by default the node's default for the platform.")
    var app = ""

    @Option(help: "The Bisq network of the node.")
    var network = BisqNetwork.mainnet

    @OptionGroup var tor: TorOptions

    @Option(help: ArgumentHelp("Repeat at this interval, such as 5m.", valueName: "30s|5m|1h"))
    var every: TimeSpan?

    @Option(help: ArgumentHelp("With --every: consecutive failures before reporting.", valueName: "number"))
    var failures = 2

    @Option(
        help: ArgumentHelp("With --every: shell command to run when the state changes.", valueName: "command")
    )
    var exec: String?

    @Option(help: ArgumentHelp("Time limit for each step.", valueName: "30s|2m"))
    var timeout = TimeSpan(.seconds(120))

    @Flag(help: "One JSON object for each check: state, reason.")
    var json = false

    func validate() throws {
        if exec != nil, every == nil { throw ValidationError("--exec needs --every") }
        if failures < 1 { throw ValidationError("--failures must be 1 or more") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        let status = try await watch()
        if status != 0 { throw ExitCode(status) }
    }

    @EventLoop
    private func watch() async throws -> Int32 {
        let node = try calledNode(to, port: 9999)
        let watchTor = WatchTor(try tor.source())
        let signals = [SIGTERM, SIGINT].map { number in
            SignalSource(number) {
                Task {
                    await watchTor.stop()
                    Glibc.exit(0)
                }
            }
        }
        defer { withExtendedLifetime(signals) {} }
        var state = WatchState(failuresToAlarm: failures)
        printProgress("sending a test notification")
        while true {
            let result = await check(node, watchTor)
            tell(result)
            guard let every else {
                await watchTor.stop()
                return result.exitStatus
            }
            if state.note(isWell: result.verdict == .well) { await alert(result) }
            try? await Task.sleep(for: every.duration)
        }
    }

    @EventLoop
    private func check(_ node: CalledNode, _ tor: WatchTor) async -> WatchResult {
        let route: PeerRoute
        do {
            route = try await tor.route(to: node)
        } catch {
            return WatchResult(verdict: .unreachable, words: "\(error)")
        }
        return await WatchProbe(
            route: route, network: network, platform: platform.value, app: app,
            deadline: timeout.duration
        ).run()
    }

    private func tell(_ result: WatchResult) {
        guard json else { return printLine("\(result.verdict.rawValue): \(result.words)") }
        var reason: [UInt8] = []
        reason.append(jsonString: result.words)
        printLine(
            #"{"state":"\#(result.verdict.rawValue)","reason":\#(String(decoding: reason, as: UTF8.self))}"#)
    }

    @EventLoop
    private func alert(_ result: WatchResult) async {
        guard let exec else { return }
        let variables =
            environment.map { "\($0.key)=\($0.value)" } + [
                "ONIONBELL_STATE=\(result.verdict.rawValue)", "ONIONBELL_REASON=\(result.words)",
                "ONIONBELL_ADDRESS=\(to)",
            ]
        var child: ChildProcess?
        await withUnsafeContinuation { continuation in
            do {
                child = try ChildProcess(["/bin/sh", "-c", exec], environment: variables) { exit in
                    if exit != .exited(0) { printError("onionbell: --exec: \(exit)") }
                    continuation.resume()
                }
            } catch {
                printError("onionbell: --exec: \(error)")
                continuation.resume()
            }
        }
        withExtendedLifetime(child) {}
    }
}
