import Lab
import LabParts
import Reactor
import Relay
import Testing
import Wire

@testable import Node

/// The watchman beside a Bisq that answers, falls silent in two ways, and comes back.
@EventLoop
@Suite(.serialized) struct WatchmanTests {
    @Test func silenceAndReturnAreToldOnceWhateverTheReason() async throws {
        let bisq = SimulatedBisq()
        let endpoint = try bisq.open(on: .host("127.0.0.1", port: 0))
        var watch = Settings.Watch(name: "home", address: .local(endpoint))
        watch.interval = .milliseconds(20)
        watch.misses = 2
        var news: [Vigil.News] = []
        var patience = Watchman.Patience()
        // A busy machine must not be taken for silence.
        patience.pong = .seconds(1)
        let watchman = Watchman([watch], network: .mainnet, patience: patience, socks: { nil }) { told, of in
            #expect(of.name == "home")
            news.append(told)
        }
        try await EventLoop.until { bisq.pings >= 5 }
        #expect(news.isEmpty && watchman.report.first?.lastAnswer != nil)
        // It takes what comes, and sleeps.
        bisq.isAsleep = true
        try await EventLoop.until { watchman.report.first?.isSilent ?? false }
        bisq.isAsleep = false
        try await EventLoop.until { news.count == 2 }
        guard case .silent(since: .some) = news.first, case .back = news.last else {
            Issue.record("\(news)")
            return
        }
        // It is gone. An hour has not passed: nobody is rung again.
        bisq.close()
        try await EventLoop.until { watchman.report.first?.missed ?? 0 > 3 }
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
        try await EventLoop.until { asked >= 5 }
        #expect(watchman.report.first?.missed == 0)
        watchman.stop()
    }

    /// Bisq 2 has another protocol: that it takes a connection is all that is known of it, and nothing is said to it.
    @Test func aBisq2IsThereWhileItTakesConnections() async throws {
        let bisq = SimulatedBisq()
        let endpoint = try bisq.open(on: .host("127.0.0.1", port: 0))
        bisq.isAsleep = true
        var watch = Settings.Watch(name: "two", address: .local(endpoint))
        (watch.kind, watch.interval, watch.misses) = (.bisq2, .milliseconds(20), 2)
        var news: [Vigil.News] = []
        let watchman = Watchman([watch], network: .mainnet, socks: { nil }) { told, _ in news.append(told) }
        try await EventLoop.until { bisq.connections >= 5 }
        #expect(news.isEmpty && watchman.report.first?.missed == 0)
        #expect(bisq.pings == 0 && bisq.others == 0)
        bisq.close()
        try await EventLoop.until { !news.isEmpty }
        guard case .silent(since: .some) = news.first else {
            Issue.record("\(news)")
            return
        }
        watchman.stop()
    }

    @Test(arguments: ["", "x", "127.0.0.1", "8.8.8.8:9999", "abc.onion:9999", "x:0"])
    func whatIsNoAddressIsRefused(text: String) { #expect(Settings.Watch.Address(text) == nil) }
}
