import Glibc
import Reactor

/// Stands between a node and PostgreSQL, and does what networks do.
@EventLoop
final class DatabaseLine {
    enum State {
        case whole
        /// Nothing gets through, and nobody is told.
        case silent
        /// Whoever comes is sent away.
        case cut
    }

    private(set) var state = State.whole
    /// The server makes the next commit, and nobody hears of it.
    var losesAnswer = false
    private let server: Endpoint
    private var listener: Listener!
    fileprivate var calls: [DatabaseCall] = []

    /// - Parameter server: The directory of its socket.
    init(to server: String) throws {
        self.server = .unix(path: server + "/.s.PGSQL.5432")
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            guard state != .cut else { return stream.close() }
            let call = DatabaseCall(from: stream, by: self)
            calls.append(call)
            if state == .whole { call.begin(to: self.server) }
        }
    }

    func url(_ database: String) -> String { "postgresql://onionbell@\(listener.endpoint)/\(database)" }

    func fallSilent() {
        state = .silent
        for call in calls { call.pause() }
    }

    /// What has come in meanwhile is thrown away with the connections: that makes the kernel reset them.
    func cut() async {
        fallSilent()
        await pause(.milliseconds(300))
        state = .cut
        for call in calls { call.close() }
    }

    func mend() {
        state = .whole
        for call in calls { call.resume(to: server) }
    }

    func close() {
        listener.close()
        for call in calls { call.close() }
    }
}

/// One connection of a node.
@EventLoop
private final class DatabaseCall: StreamHandler {
    private unowned let line: DatabaseLine
    private let node: Stream
    private var server: Stream?
    private var isBegun = false
    private var losesAnswer = false
    private static let commit = Array("COMMIT".utf8)
    private static let mostUnsent = 1 << 20

    init(from node: Stream, by line: DatabaseLine) {
        self.node = node
        self.line = line
        node.pauseReading()
        node.handler = self
    }

    func begin(to endpoint: Endpoint) {
        isBegun = true
        Task {
            guard let server = try? await Stream.connect(to: endpoint, deadline: .seconds(5)), node.isOpen
            else {
                return close()
            }
            self.server = server
            server.handler = self
            if line.state == .whole { node.resumeReading() } else { server.pauseReading() }
        }
    }

    func pause() {
        node.pauseReading()
        server?.pauseReading()
    }

    func resume(to endpoint: Endpoint) {
        guard isBegun else { return begin(to: endpoint) }
        server?.resumeReading()
        if server != nil { node.resumeReading() }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        guard stream === node else {
            guard !losesAnswer else { return close() }
            return pass(bytes, from: stream, to: node)
        }
        guard let server else { return close() }
        if line.losesAnswer, DatabaseCall.hasCommit(bytes) {
            line.losesAnswer = false
            losesAnswer = true
        }
        pass(bytes, from: stream, to: server)
    }

    private func pass(_ bytes: RawSpan, from sender: Stream, to receiver: Stream) {
        receiver.write(bytes)
        if receiver.unsentBytes > DatabaseCall.mostUnsent { sender.pauseReading() }
    }

    private static func hasCommit(_ bytes: RawSpan) -> Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.indices.contains { bytes[$0] == commit[0] && bytes[$0...].starts(with: commit) }
        }
    }

    func streamFlushed(_ stream: Stream) {
        guard line.state == .whole else { return }
        if stream === node { server?.resumeReading() } else { node.resumeReading() }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        // The last words of one come to the other.
        if stream === node { server?.closeWhenFlushed() } else { node.closeWhenFlushed() }
        line.calls.removeAll { $0 === self }
    }

    func close() {
        node.close()
        server?.close()
        line.calls.removeAll { $0 === self }
    }
}
