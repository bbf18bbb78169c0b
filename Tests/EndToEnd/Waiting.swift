import Client
import HTTP1
import Reactor
import Vectors
import Wire

/// Returns when that is so. What is asked must stay so: a state that lasts a moment may be missed.
@EventLoop
func until(_ isSo: () async throws -> Bool) async throws {
    while try await !isSo() { try await Task.sleep(for: .milliseconds(20)) }
}

/// The client's own deadlines are for people; here only the run has one.
extension BisqPeer {
    func send(_ request: MobileNotificationRequest) async throws(PeerError) -> MobileNotificationResponse {
        try await send(request, deadline: theRun)
    }

    func nextResponse(to uid: String) async throws(PeerError) -> MobileNotificationResponse {
        try await nextResponse(to: uid, deadline: theRun)
    }

    func ping() async throws(PeerError) -> Duration { try await ping(deadline: theRun) }

    func peers() async throws(PeerError) -> GetPeersResponse { try await peers(deadline: theRun) }

    func post(_ request: MobileReplyRequest) async throws(PeerError) -> MobileNotificationResponse {
        try await post(request, deadline: theRun)
    }

    func replies(to fetch: MobileReplyFetch) async throws(PeerError) -> MobileReplies {
        try await replies(to: fetch, deadline: theRun)
    }

    static func dial(
        _ route: PeerRoute, attemptTimeout: Duration = .seconds(20)
    ) async throws(PeerDialError) -> BisqPeer {
        try await dial(route, attemptTimeout: attemptTimeout, deadline: theRun)
    }
}

extension HTTPExchange {
    static func answer(
        to request: HTTPRequest, host: String, by route: PeerRoute, attemptTimeout: Duration = .seconds(20)
    ) async throws(HTTPExchangeError) -> HTTPResponse {
        try await answer(
            to: request, host: host, by: route, attemptTimeout: attemptTimeout, deadline: theRun)
    }
}

extension Reactor.Stream {
    static func connect(to endpoint: Endpoint) async throws(ConnectError) -> Reactor.Stream {
        try await connect(to: endpoint, deadline: theRun)
    }
}
