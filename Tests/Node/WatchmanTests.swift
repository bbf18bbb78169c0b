import Reactor
import Relay
import Testing
import Wire

@testable import Node

/// The watchman beside a Bisq that answers, falls silent in two ways, and comes back.
@EventLoop
@Suite(.serialized, .timeLimit(.minutes(1))) struct WatchmanTests {
    /// Answers each Ping, or takes it and says nothing.
    @EventLoop
    final class Bisq: StreamHandler {
        private var listener: Listener?
        private var streams: [Reactor.Stream] = []
        private var decoders: [ObjectIdentifier: FrameDecoder] = [:]
        private(set) var pings = 0
        private(set) var others = 0
        var isAsleep = false

        func open(on endpoint: Endpoint) throws -> Endpoint {
            let listener = try Listener(on: endpoint) { [unowned self] stream in
                stream.handler = self
                streams.append(stream)
                decoders[ObjectIdentifier(stream)] = FrameDecoder(maximumLength: 65_536)
                stream.resumeReading()
            }
            self.listener = listener
            return listener.endpoint
        }

        func close() {
            listener?.close()
            for stream in streams { stream.close() }
            streams = []
        }

        func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
            let bytes = bytes.withUnsafeBytes { [UInt8]($0) }
            var position = 0
            while let frame = try? decoders[ObjectIdentifier(stream)]?.nextFrame(
                in: bytes.span, from: &position)
            {
                let envelope =
                    switch frame {
                    case .within(let range): try? Envelope(parsing: bytes.span, in: range)
                    case .assembled(let body): try? Envelope(parsing: body)
                    }
                guard case .ping(let ping) = envelope?.message else {
                    others += 1
                    continue
                }
                pings += 1
                guard !isAsleep else { continue }
                let pong = Message.pong(Pong(requestNonce: ping.nonce))
                stream.write(
                    Envelope(messageVersion: BisqNetwork.mainnet.messageVersion, message: pong).frame)
            }
        }

        func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
    }

    @Test func silenceAndReturnAreToldOnceWhateverTheReason() async throws {
        let bisq = Bisq()
        let endpoint = try bisq.open(on: .host("127.0.0.1", port: 0))
        var watch = Settings.Watch(name: "home", address: .local(endpoint))
        watch.interval = .milliseconds(20)
        watch.misses = 2
        var news: [Vigil.News] = []
        var patience = Watchman.Patience()
        patience.pong = .milliseconds(300)
        let watchman = Watchman([watch], network: .mainnet, patience: patience, socks: { nil }) { told, of in
            #expect(of.name == "home")
            news.append(told)
        }
        func wait(_ condition: () -> Bool) async throws {
            for _ in 0..<1500 where !condition() { try await Task.sleep(for: .milliseconds(20)) }
            #expect(condition())
        }
        try await wait { bisq.pings >= 5 }
        #expect(news.isEmpty && watchman.report.first?.lastAnswer != nil)
        // It takes what comes, and sleeps.
        bisq.isAsleep = true
        try await wait { watchman.report.first?.isSilent ?? false }
        bisq.isAsleep = false
        try await wait { news.count == 2 }
        guard case .silent(since: .some) = news.first, case .back = news.last else {
            Issue.record("\(news)")
            return
        }
        // It is gone. An hour has not passed: nobody is rung again.
        bisq.close()
        try await wait { watchman.report.first?.missed ?? 0 > 3 }
        #expect(news.count == 2 && watchman.report.first?.rings == 2)
        #expect(bisq.others == 0, "nothing but Pings")
        watchman.stop()
    }

    /// While tor can't be used, nothing is known of anybody.
    @Test func withoutTorNobodyIsCalledSilent() async throws {
        let onion = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion:9999"
        let address = try #require(Settings.Watch.Address(onion))
        var watch = Settings.Watch(name: "home", address: address)
        watch.interval = .milliseconds(1)
        watch.misses = 1
        var asked = 0
        let watchman = Watchman(
            [watch], network: .mainnet,
            socks: {
                asked += 1
                return nil
            }, onNews: { told, _ in Issue.record("\(told)") })
        for _ in 0..<1500 where asked < 5 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(asked >= 5 && watchman.report.first?.missed == 0)
        watchman.stop()
    }

    @Test(arguments: ["", "x", "127.0.0.1", "8.8.8.8:9999", "abc.onion:9999", "x:0"])
    func whatIsNoAddressIsRefused(text: String) { #expect(Settings.Watch.Address(text) == nil) }
}
