import ArgumentParser
import Clocks
import Foundation
import Gateways
import Logging
import Reactor
import Relay

/// `onionbell-bench send`: the gateway leg alone, as the node has it, without doors and outbox.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send to a gateway, without a node.",
        discussion: "Prints the CPU seconds it took. DIRECTORY is that of a running `gateway` command.")

    @Option(help: "The gateway's files.") var directory: String
    @Option(help: "The gateway's URL.") var url: String
    @Option(help: "Notifications in all.") var count = 100_000
    @Option(help: "In flight at once.") var window = 100

    func run() async throws {
        let seconds = try await measure()
        tell("\(seconds)")
    }

    @EventLoop
    private func measure() async throws -> Double {
        let p8 = Array(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/AuthKey.p8")))
        let address = try GatewayURL(url)
        let settings = APNsSettings(
            topic: GatewayCommand.topic,
            credentials: .providerKey(try ProviderKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", p8: p8)),
            productionURL: address, sandboxURL: address, trust: .file(path: "\(directory)/ca.pem"))
        let silent = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        let run = SendRun(
            try APNsGateway.both(settings, log: silent).production, count: count, window: window)
        let before = cpuSeconds(RUSAGE_SELF)
        await run.finish()
        let seconds = cpuSeconds(RUSAGE_SELF) - before
        guard run.accepted == count else { throw BenchError("\(count - run.accepted) were not accepted") }
        return seconds
    }
}

/// Keeps a gateway busy.
@EventLoop
private final class SendRun {
    private(set) var accepted = 0
    private let gateway: APNsGateway
    private let count: Int
    private let window: Int
    private var sent = 0
    private var ended = 0
    private let tokens = (0..<UInt64(10_000)).map { deviceToken($0) }
    private var whenDone: CheckedContinuation<Void, Never>?

    init(_ gateway: APNsGateway, count: Int, window: Int) {
        self.gateway = gateway
        self.count = count
        self.window = window
    }

    func finish() async {
        gateway.onCapacity = { [unowned self] in fill() }
        gateway.start()
        await withCheckedContinuation { whenDone = $0 }
        gateway.stop()
    }

    private func fill() {
        if gateway.capacity == 0 { gateway.noteBacklog() }
        while sent < count, sent - ended < window, gateway.capacity > 0 {
            let now = EventLoop.unixTime
            let notification = Relay.Notification(
                id: NotificationID(high: 0x0123_4567_89ab_cdef, low: UInt64(sent)),
                lane: LaneID(app: "ios", host: .production),
                deviceToken: DeviceToken(tokens[sent % tokens.count]), message: RequestTemplate.message,
                isUrgent: true,
                hasSound: false, isMutableContent: true, isContentAvailable: true,
                expiresAt: now + .seconds(86_400),
                acceptedAt: now)
            sent += 1
            gateway.send(notification) { [unowned self] outcome in
                ended += 1
                if outcome == .accepted { accepted += 1 }
                if ended == count {
                    whenDone?.resume()
                    whenDone = nil
                } else {
                    fill()
                }
            }
        }
    }
}
