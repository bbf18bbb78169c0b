import Relay

/// An outbox over a real one that fails on command.
package actor FailingOutbox: Outbox {
    private let real: any Outbox
    private var fault: OutboxError?
    package private(set) var lastCommit: [OutboxChange] = []

    package init(_ real: any Outbox) { self.real = real }
    package func setFault(_ fault: OutboxError?) { self.fault = fault }
    package func content() async throws(OutboxError) -> OutboxContent { try await real.content() }
    package func claim(_ claim: Claim) async throws(OutboxError) -> Claimed { try await real.claim(claim) }
    package func commit(
        _ changes: [OutboxChange], isAwaited: Bool
    ) async throws(OutboxError) -> [StoreResult] {
        if let fault { throw fault }
        lastCommit = changes
        return try await real.commit(changes, isAwaited: isAwaited)
    }
    package func notifications(_ sequences: [Int64]) async throws(OutboxError) -> [Int64: Notification] {
        try await real.notifications(sequences)
    }
    package func state(of identity: Digest) async throws(OutboxError) -> NotificationState? {
        try await real.state(of: identity)
    }
    package func divide(_ request: ShareRequest) async throws(OutboxError) -> Share {
        try await real.divide(request)
    }
    package func close() async { await real.close() }
}
