import Client
import HTTP1
import Lab
import Processes
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// Restarts of the built node on a private Tor network, under a sender that asks as Bisq 1 does: `GET /relay` over a
/// connection of its own, by whatever circuit its tor has, once.
@EventLoop
@Suite(.serialized) struct RelayRestartTests {
    /// The sender's book.
    @EventLoop
    private final class Sender {
        private(set) var begun = 0
        private(set) var taken = 0
        private(set) var waits: [Duration] = []
        private(set) var faults: [String] = []
        var isStopped = false
        private var running = 0
        private let socks: Endpoint
        private let address: String

        init(_ stage: NodeTests.Stage) { (socks, address) = (stage.socks, stage.address) }

        /// Sends one after the other, and the next one after a moment also where one waits.
        func run() async {
            while !isStopped {
                begun += 1
                let number = begun
                running += 1
                Task { await send(number) }
                try? await Task.sleep(for: .milliseconds(500))
            }
            while running > 0 { try? await Task.sleep(for: .milliseconds(20)) }
        }

        private func send(_ number: Int) async {
            let began = ContinuousClock.now
            defer {
                waits.append(ContinuousClock.now - began)
                running -= 1
            }
            do {
                let phone = try Phone.new(.ios, descriptor: "iPhone X")
                let text = PhoneText(sentDate: 1, title: "\(number)", message: "", kind: .trade)
                let request = try BisqSender(to: phone.pairingToken).httpRequest(for: text)
                let found = try await Reactor.Stream.connect(
                    through: SOCKS5Route(proxy: socks, host: address, port: 80), deadline: theRun)
                defer { found.stream.close() }
                let answer = try await HTTPExchange.answer(
                    to: request, host: address, over: found.stream, unread: found.unread, deadline: theRun)
                if answer.status == 200 { taken += 1 } else { faults.append("\(number): \(answer.status)") }
            } catch {
                faults.append("\(number): after \(ContinuousClock.now - began): \(error)")
            }
        }
    }

    private static let restarts = isLong ? 16 : 3

    /// With a stop and a start in its place nearly all that is sent meanwhile is lost, and for minutes after: a client's tor
    /// waits for the circuits of before.
    @Test func nothingIsLostOverRestartsInPlace() async throws {
        let stage = try await NodeTests.Stage()
        let sender = Sender(stage)
        let sending = Task { await sender.run() }
        let configuration = stage.configuration
        for count in 1...Self.restarts {
            let before = sender.taken
            try await until { sender.taken > before + 1 || !sender.faults.isEmpty }
            let result = try await Task.detached {
                try run([program, "restart", "--config", configuration])
            }.value
            #expect(result.status == 0, "\(result)")
            await stage.node.wait { node in
                node.exit != nil || node.lines.count { $0.contains("node.started") } == count + 1
            }
        }
        let before = sender.taken
        try await until { sender.taken > before + 1 || !sender.faults.isEmpty }
        sender.isStopped = true
        await sending.value
        let (faults, waits) = (sender.faults, sender.waits.sorted())
        print("of \(sender.begun) over \(Self.restarts) restarts the longest took \(waits.suffix(3))")
        #expect(faults.isEmpty, "\(faults)")
        await stage.close()
    }
}
