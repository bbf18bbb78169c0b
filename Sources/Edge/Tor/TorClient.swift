import Reactor

/// A tor of our own that only dials: it looks at an onion address from outside, as a peer's tor does.
///
/// It has a directory of its own and starts without knowing the network, so it never meets the tor of a node, and what
/// it says of the clock is fresh.
@EventLoop
package final class TorClient {
    package let connection: ControlConnection
    /// The place at which tor takes SOCKS connections.
    package let socks: Endpoint
    /// The clock, as tor met it on its way into the network.
    package let clock: ClockView

    private let link: TorLink

    private init(_ link: TorLink, socks: Endpoint, clock: ClockView) {
        self.link = link
        connection = link.connection
        self.socks = socks
        self.clock = clock
    }

    /// Starts a tor, and returns when it is in the network.
    ///
    /// - Parameters:
    ///   - onProgress: how far it has come.
    ///   - limit: for the way into the network.
    package static func start(
        binary: String, torrc: String, directory: String, within limit: Duration,
        onProgress: @escaping @EventLoop (Bootstrap) -> Void
    ) async throws(TorClientError) -> TorClient {
        let settings = TorProcessSettings(
            binary: binary, torrc: torrc, dataDirectory: directory, offersSocks: true)
        let link: TorLink
        do { link = try await .own(settings, onLine: { _ in }) } catch { throw .notStarted(error) }
        do {
            return try await join(link, within: limit, onProgress: onProgress)
        } catch {
            _ = await link.close(because: .closed)
            throw error
        }
    }

    private static func join(
        _ link: TorLink, within limit: Duration, onProgress: @escaping @EventLoop (Bootstrap) -> Void
    ) async throws(TorClientError) -> TorClient {
        var clock = ClockView()
        link.connection.onEvent = { event in
            if case .clockSkew(let seconds) = event { clock.note(skew: seconds) }
        }
        var patience = BootstrapPatience(within: limit, at: .now)
        do {
            try await link.connection.send(.setEvents(["STATUS_CLIENT", "STATUS_GENERAL"]))
            while true {
                let reply = try await link.connection.send(.getInfo(["status/bootstrap-phase"]))
                let bootstrap = reply["status/bootstrap-phase"].flatMap { Bootstrap(phase: $0) }
                if let bootstrap, patience.take(bootstrap, at: .now) { onProgress(bootstrap) }
                if bootstrap?.progress == 100 { break }
                if patience.isOver(at: .now) { throw TorClientError.notInNetwork(patience.last, clock) }
                try? await Task.sleep(for: .milliseconds(200))
            }
            try await clock.ask(link.connection)
            guard let socks = try await link.socksEndpoint() else { throw TorClientError.noSocks }
            return TorClient(link, socks: socks, clock: clock)
        } catch let error as ControlError {
            throw .notStarted(.control(error))
        } catch let error as TorClientError {
            throw error
        } catch {
            throw .noSocks
        }
    }

    /// Stops the process.
    package func stop() async { _ = await link.close(because: .closed) }
}

package enum TorClientError: Error, CustomStringConvertible {
    case notStarted(OnionLoss)
    /// Tor did not get into the network within the time; how far it came.
    case notInNetwork(Bootstrap?, ClockView)
    case noSocks

    package var description: String {
        switch self {
        case .notStarted(let loss): loss.description
        case .notInNetwork(let bootstrap, _):
            bootstrap.map {
                "tor's bootstrap is at \($0.progress) %: \($0.warning ?? $0.summary)"
            } ?? "tor did not begin to bootstrap"
        case .noSocks: "tor opened no SOCKS port"
        }
    }
}

/// The result of fetching an onion service's descriptor.
package enum DescriptorFetch: Equatable, Sendable {
    case found
    /// Directories answered, and none had the descriptor: tor's word for that.
    case notFound(reason: String)
    case noAnswer
}

extension ClockView {
    /// Asks a running tor for the times of its consensus.
    package mutating func ask(
        _ connection: ControlConnection, within limit: Duration = .seconds(10)
    ) async throws(ControlError) {
        do {
            note(consensusIn: try await connection.send(.getInfo(Self.keys), within: limit))
        } catch {
            // One that has no consensus yet refuses the question.
            guard case .refused = error else { throw error }
        }
    }
}

extension ControlConnection {
    /// Returns the place at which this tor takes SOCKS connections; the first of several.
    package func socksEndpoint(
        within limit: Duration = .seconds(10)
    ) async throws(ControlError) -> Endpoint? {
        let key = "net/listeners/socks"
        return try await ask(.getInfo([key]), within: limit) { reply throws(ControlSyntaxError) in
            guard let listeners = reply[key] else { throw .unreadableReply(to: "GETINFO") }
            return try ReplyFields(listeners).words.lazy.compactMap { Endpoint($0.value) }.first
        }
    }

    /// Fetches the descriptor anew from the directories that must have it. Takes the connection's events over.
    package func fetchDescriptor(
        of address: OnionAddress, within limit: Duration
    ) async throws(ControlError) -> DescriptorFetch {
        var requested = 0
        var failed = 0
        var result: DescriptorFetch?
        onEvent = { event in
            guard case .descriptor(let event) = event, event.serviceID == address.serviceID else { return }
            switch event.action {
            case .requested: requested += 1
            case .received: result = .found
            case .failed(let reason):
                failed += 1
                if failed >= requested { result = result ?? .notFound(reason: reason) }
            case .created, .upload, .uploaded, .unused: break
            }
        }
        defer { onEvent = nil }
        try await send(.setEvents(["HS_DESC"]))
        try await send(.fetchDescriptor(of: address))
        let end = ContinuousClock.now + limit
        while result == nil, ContinuousClock.now < end, self.end == nil {
            try? await Task.sleep(for: .milliseconds(50))
        }
        return result ?? .noAnswer
    }
}
