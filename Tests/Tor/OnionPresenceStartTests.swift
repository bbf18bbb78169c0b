import Foundation
import Glibc
import LabParts
import Logging
import Reactor
import Testing

@testable import Tor

/// A tor of our own that ends while the node starts.
@EventLoop
@Suite struct OnionPresenceStartTests {
    private let directory = TemporaryDirectory()

    /// - Parameter firstEnd: what the first start of tor does instead of running.
    private func presence(firstEnd: String) throws -> OnionPresence {
        let script = directory.path + "/tor"
        let text = """
            #!/bin/sh
            if mkdir \(directory.path)/started; then \(firstEnd); fi
            exec tor "$@"

            """
        try text.write(toFile: script, atomically: false, encoding: .utf8)
        chmod(script, 0o700)
        let torrc = directory.path + "/torrc"
        try "DisableNetwork 1\n".write(toFile: torrc, atomically: false, encoding: .utf8)
        let settings = OnionPresenceSettings(
            source: .own(
                TorProcessSettings(
                    binary: script, torrc: torrc, dataDirectory: directory.path + "/data", offersSocks: false)
            ),
            key: OnionKeyFile(path: directory.path + "/onion-key"))
        return OnionPresence(settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func oneThatIsKilledIsStartedAgain() async throws {
        let presence = try presence(firstEnd: "kill -9 $$")
        try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))])
        #expect(presence.address != nil)
        await presence.stop()
    }

    @Test func aNodeThatWaitsForTheSystemsTorStopsWhenItIsTold() async throws {
        let settings = OnionPresenceSettings(
            source: .running(control: .unix(path: directory.path + "/none"), ControlCredentials()),
            key: OnionKeyFile(path: directory.path + "/onion-key"))
        let log = EventsOfLog()
        let presence = OnionPresence(settings, log: log.logger)
        let start = Task { try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))]) }
        try await log.wait(for: "tor.waiting")
        await presence.stop()
        // In the end it would throw that there is no tor.
        try await start.value
        #expect(presence.state == .stopped)
    }

    /// A service manager starts it again.
    @Test(arguments: [true, false])
    func aTorThatFindsNoNetworkIsEndedIfNobodyElseUsesIt(isOurs: Bool) async throws {
        let tor = try LoneTor()
        _ = try await tor.connect()
        var settings = OnionPresenceSettings(
            source: .running(control: tor.control, tor.credentials, isOurs: isOurs),
            key: OnionKeyFile(path: directory.path + "/onion-key"))
        settings.uploadTime = .milliseconds(300)
        let presence = OnionPresence(settings, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))])
        if isOurs {
            try await tor.waitUntilGone()
            #expect(tor.exit == .exited(0))
        } else {
            // Later than the presence has looked three times.
            await EventLoop.pass(settings.uploadTime * 3)
            guard case .bootstrapping = presence.state else {
                Issue.record("\(presence.state)")
                return
            }
            _ = try await tor.connect()
        }
        await presence.stop()
        if tor.exit == nil { tor.kill() }
        try await tor.waitUntilGone()
    }

    @Test func oneThatGivesUpIsTold() async throws {
        let presence = try presence(firstEnd: "exit 1")
        await #expect(throws: OnionPresenceError.tor(.process(.ended(.exited(1), lastWords: "")))) {
            try await presence.start([VirtualPort(9999, to: .host("127.0.0.1", port: 9))])
        }
        await presence.stop()
    }
}
