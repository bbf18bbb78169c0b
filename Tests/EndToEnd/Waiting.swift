import Client
import Reactor
import Wire

/// How long a test waits for what must come: as long as the run, which is the only one with a limit.
let theRun: Duration = .seconds(6 * 3600)

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
}
