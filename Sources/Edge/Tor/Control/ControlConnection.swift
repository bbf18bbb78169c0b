import Crypto
import Encodings
import Glibc
import Reactor

/// One connection to tor's control port: commands out, their replies back in order, events in between.
///
/// Commands may be sent while others wait for their replies. A command that is not answered in time ends the connection,
/// since later replies could no longer be matched.
@EventLoop
package final class ControlConnection {
    /// Called with what tor says without being asked; see ``ControlCommand/setEvents(_:)``.
    package var onEvent: (@EventLoop (ControlEvent) -> Void)?
    /// Called when the connection is over, by no act of ours: once, never after ``close()``.
    package var onEnd: (@EventLoop (ControlError) -> Void)?
    /// The reason why the connection is over; `nil` while it lasts.
    package private(set) var end: ControlError?

    private let stream: Stream
    private var decoder = ControlDecoder()
    private var pending: [Pending] = []
    private let deadline = Timer()

    private struct Pending {
        let command: String
        let isOfCircuits: Bool
        let deadline: ContinuousClock.Instant
        let continuation: UnsafeContinuation<Result<ControlReply, ControlError>, Never>
    }

    /// Makes a connection that is not yet authenticated; see ``open(_:credentials:)``.
    init(to endpoint: Endpoint) async throws(ControlError) {
        do {
            stream = try await Stream.connect(to: endpoint, deadline: .seconds(5))
        } catch {
            throw .unreachable(error)
        }
        begin()
    }

    /// Goes on with a connection that another process has left, perhaps in the midst of a line, and with answers unread:
    /// all is passed over up to the answer to a question that nobody has put before. It is authenticated.
    init(inheriting descriptor: consuming Descriptor) async throws(ControlError) {
        stream = Stream(inheriting: descriptor)
        let key = "onionbell-\(Hex.encode(randomBytes(16)))"
        decoder = ControlDecoder(endOfFirstLine: "\"\(key)\"")
        begin()
        do {
            try await send(.getInfo([key]), within: .seconds(5))
        } catch .refused {
            // There is no such thing, and tor has said so.
        }
    }

    private func begin() {
        deadline.action = { [unowned self] in
            if let first = pending.first { end(.timedOut(command: first.command)) }
        }
        stream.handler = self
    }

    /// Sends a command; returns the reply when tor has carried it out.
    ///
    /// - Throws: ``ControlError/refused(_:)`` if tor has not; anything else: the connection is over.
    @discardableResult
    package func send(
        _ command: ControlCommand, within limit: Duration = .seconds(10)
    ) async throws(ControlError) -> ControlReply {
        try await send(command, within: limit, isOfCircuits: false)
    }

    /// Asks tor for its circuits.
    func circuits(within limit: Duration = .seconds(10)) async throws(ControlError) -> CircuitBook {
        try await send(.getInfo(["circuit-status"]), within: limit, isOfCircuits: true).circuits
    }

    private func send(
        _ command: ControlCommand, within limit: Duration, isOfCircuits: Bool
    ) async throws(ControlError) -> ControlReply {
        let result = await withUnsafeContinuation { continuation in
            if let end {
                continuation.resume(returning: Result<ControlReply, ControlError>.failure(end))
                return
            }
            pending.append(
                Pending(
                    command: command.name, isOfCircuits: isOfCircuits, deadline: .now + limit,
                    continuation: continuation))
            stream.write(command.bytes)
            if pending.count == 1 { deadline.start(after: limit) }
        }
        let reply = try result.get()
        guard reply.isDone else { throw .refused(ControlRefusal(reply)) }
        return reply
    }

    /// Returns what `read` makes of the reply to a command that tor has carried out.
    package func ask<Value>(
        _ command: ControlCommand, within limit: Duration = .seconds(10),
        _ read: (ControlReply) throws(ControlSyntaxError) -> Value
    ) async throws(ControlError) -> Value {
        let reply = try await send(command, within: limit)
        do { return try read(reply) } catch { throw .notUnderstood(error) }
    }

    /// Closes the connection; commands that wait fail with ``ControlError/closed``.
    package func close() {
        onEnd = nil
        end(.closed)
    }

    /// The number of its socket; `nil`: it is over.
    var descriptor: CInt? { end == nil ? stream.number : nil }

    /// Leaves the connection open for this process' successor, with all that tor has by it. Tor is asked to tell nothing
    /// more: after its answer nothing is on its way.
    ///
    /// - Returns: `nil`: the connection is over, or something unread lies in it.
    func handOn() async -> Descriptor? {
        onEnd = nil
        do throws(ControlError) {
            try await send(.setEvents([]), within: .seconds(2))
        } catch {
            return nil
        }
        guard end == nil, pending.isEmpty, decoder.isEmpty, let descriptor = stream.handOn() else {
            return nil
        }
        end = .closed
        deadline.stop()
        onEvent = nil
        return descriptor
    }

    private func take(_ reply: ControlReply) {
        if reply.isEvent {
            // One in a form that we don't know is passed over: a later tor may have more to say.
            if let event = try? ControlEvent(reply) { onEvent?(event) }
            return
        }
        guard !pending.isEmpty else { return end(.notUnderstood(.unaskedReply)) }
        let answered = pending.removeFirst()
        deadline.stop()
        if let next = pending.first { deadline.start(after: max(.milliseconds(1), next.deadline - .now)) }
        answered.continuation.resume(returning: .success(reply))
    }

    private func end(_ error: ControlError) {
        guard end == nil else { return }
        end = error
        stream.close()
        deadline.stop()
        onEvent = nil
        let waiting = pending
        pending = []
        for command in waiting { command.continuation.resume(returning: .failure(error)) }
        let onEnd = onEnd
        self.onEnd = nil
        onEnd?(error)
    }
}

extension ControlConnection: StreamHandler {
    package func stream(_ stream: Stream, received bytes: RawSpan) {
        decoder.append(bytes)
        do {
            decoder.readsCircuits = pending.first?.isOfCircuits ?? false
            while end == nil, let reply = try decoder.next() {
                take(reply)
                decoder.readsCircuits = pending.first?.isOfCircuits ?? false
            }
        } catch {
            end(.notUnderstood(error))
        }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) {
        switch end {
        case .closedByPeer: self.end(.closed)
        // A tor that dies while something is written to it.
        case .failed(let error) where [EPIPE, ECONNRESET].contains(error.code): self.end(.closed)
        case .failed(let error): self.end(.failed(error))
        case .idle, .peerReadsNothing: self.end(.timedOut(command: pending.first?.command ?? "anything"))
        }
    }
}
