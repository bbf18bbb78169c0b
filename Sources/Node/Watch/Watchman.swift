import Client
import Overview
import Reactor
import Relay
import Tor
import Wire

/// Asks the owner's Bisqs now and then whether they are there, and rings a name of the phone book when one
/// has fallen silent, and again when it is back.
///
/// A Bisq 1 is asked by the Ping that its own peers send, over a connection that ends with the answer. A Bisq 2 is there
/// if it takes a connection, which ends at once.
@EventLoop
final class Watchman {
    /// How long a connection may take, and the Pong over it, and what passes before the first one.
    struct Patience {
        var connection: Duration = .seconds(120)
        var pong: Duration = .seconds(30)
        var first: Duration = .seconds(5)
    }

    private let network: BisqNetwork
    private let patience: Patience
    /// How tor is reached; `nil`: not now, and nothing can be said of anybody.
    private let socks: @EventLoop () -> Endpoint?
    private let onNews: @EventLoop (Vigil.News, Settings.Watch) -> Void
    private var posts: [Post] = []
    private var isStopped = false

    /// A Bisq that is watched.
    @EventLoop
    private final class Post {
        let watch: Settings.Watch
        var vigil: Vigil
        let timer = Timer()
        /// How often its owner was rung.
        var rings = 0

        init(_ watch: Settings.Watch) {
            self.watch = watch
            vigil = Vigil(misses: watch.misses)
        }
    }

    /// Makes the watches, and starts their timers.
    ///
    /// - Parameter onNews: called when a Bisq has fallen silent or is back: rings.
    init(
        _ watches: [Settings.Watch], network: BisqNetwork, patience: Patience = Patience(),
        socks: @escaping @EventLoop () -> Endpoint?,
        onNews: @escaping @EventLoop (Vigil.News, Settings.Watch) -> Void
    ) {
        (self.network, self.patience, self.socks, self.onNews) = (network, patience, socks, onNews)
        for watch in watches {
            let post = Post(watch)
            post.timer.action = { [weak self, weak post] in
                guard let self, let post else { return }
                Task { await self.look(post) }
            }
            post.timer.start(after: min(patience.first, watch.interval))
            posts.append(post)
        }
    }

    func stop() {
        for post in posts { post.timer.stop() }
        isStopped = true
    }

    var report: [Report.Watch] {
        posts.map {
            Report.Watch(
                name: $0.watch.name, isSilent: $0.vigil.isSilent, lastAnswer: $0.vigil.lastAnswer,
                missed: $0.vigil.missed, rings: $0.rings)
        }
    }

    private func look(_ post: Post) async {
        guard !isStopped else { return }
        if let route = route(to: post.watch.address) {
            let isThere = await answers(post.watch.kind, by: route)
            guard !isStopped else { return }
            let now = EventLoop.unixTime
            if let news = isThere ? post.vigil.answered(at: now) : post.vigil.missed(at: now) {
                post.rings += 1
                onNews(news, post.watch)
            }
        }
        // Not by the clock: nobody shall learn from the rhythm who asks.
        post.timer.start(after: post.watch.interval * post.vigil.pause * Double.random(in: 0.8...1.2))
    }

    private func route(to address: Settings.Watch.Address) -> PeerRoute? {
        switch address {
        case .onion(let onion, let port):
            socks().map { .tor(socks: $0, onion: onion.description, port: port) }
        case .local(let endpoint): .direct(endpoint)
        }
    }

    private func answers(_ kind: Settings.Watch.Kind, by route: PeerRoute) async -> Bool {
        do {
            let peer = try await BisqPeer.dial(route, network: network, deadline: patience.connection)
            defer { peer.close() }
            if kind == .bisq1 { _ = try await peer.ping(deadline: patience.pong) }
            return true
        } catch {
            return false
        }
    }
}
