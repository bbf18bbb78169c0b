import Client
import Clocks
import Lab
import Processes
import Reactor
import Wire

/// The demo without credentials of Apple or Google: an unmodified Bisq 1, a node that hands on, and Bisq's relay,
/// simulated behind an onion address.
extension Demo {
    private static let bisqsRelay = "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"

    func ringThroughBisqsRelay(in network: PrivateTorNetwork) async throws -> Legs {
        let relay = try SimulatedRelay()
        defer { relay.close() }
        let upstream = try await network.startTor().publish([(80, relay.endpoint)])
        let directory = try LabDirectory()
        let node = try startNode(in: directory, network, upstream)
        guard let published = await node.publishedLine() else {
            throw Broken(step: "the node was not published")
        }
        let address = String(published.split(separator: " ")[1])
        narrator.verified("a node with one app of gateway relay is published as \(address)")
        let line = "MapAddress \(Demo.bisqsRelay) \(address)"
        narrator.tell("the line in Bisq's configuration: torrcOptions=\(line)")
        guard let socks = try await network.startTor([line]).socks else {
            throw Broken(step: "no SOCKS port")
        }

        let phone = try Phone.new(.android, descriptor: "Google Pixel 6a")
        let message = PhoneText(
            sentDate: EventLoop.unixMilliseconds, transactionID: "IgytxfRN", title: "Trade taken",
            message: "Your trade IgytxfRN is waiting for you.", kind: .trade, actionRequired: "", version: 1)
        let request = try BisqSender(to: phone.pairingToken).httpRequest(for: message)
        narrator.tell("Bisq 1 calls \(Demo.bisqsRelay), as ever")
        let sent = EventLoop.now
        let answer = try await HTTPExchange.answer(
            to: request, host: Demo.bisqsRelay, by: .tor(socks: socks, onion: Demo.bisqsRelay, port: 80))
        let receipt = since(sent)
        guard answer.status == 200, answer.body == Array("success".utf8) else {
            throw Broken(step: "the node answered \(answer.status)")
        }
        narrator.verified("the node has stored it and answers \"success\"")
        let end = ContinuousClock.now + .seconds(60)
        while relay.book.isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
        guard let push = relay.book.first else { throw Broken(step: "Bisq's relay got nothing") }
        narrator.verified("Bisq's relay (simulated) takes it from the node, over Tor")
        guard try phone.open(push.message) == message else {
            throw Broken(step: "the phone shows something else")
        }
        narrator.verified("the phone decrypts and shows \"\(message.title): \(message.message)\"")
        let pushed = push.at - sent
        guard await node.stop() == .exited(0) else {
            throw Broken(step: "the node did not end with status 0")
        }
        await directory.remove()
        return Legs(receipt: receipt, pushed: pushed, outcome: nil)
    }

    private func startNode(
        in directory: LabDirectory, _ network: PrivateTorNetwork, _ upstream: String
    ) throws -> LabNode {
        _ = try directory.make("state")
        try network.seed(dataDirectory: try directory.make("state/tor"))
        let path = directory.path
        // What leads to Bisq's own relay leads to the simulated one.
        try network.writeTorrc(
            basedOn: installedTorrc(), to: path + "/torrc",
            lines: ["MapAddress \(Demo.bisqsRelay) \(upstream)"])
        let text = """
            state_directory: \(path)/state
            tor: {mode: own, binary: "\(tor)", torrc: torrc}
            apps: [{name: bisq1-relay, gateway: relay, form: bisq1}]
            management: {listen: "unix:\(path)/management"}

            """
        try LabDirectory.write(Array(text.utf8), to: path + "/onionbell.yaml")
        return try LabNode(ProgramBeside("onionbelld").path, configuration: path + "/onionbell.yaml")
    }
}
