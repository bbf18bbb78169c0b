import Crypto
import Encodings
import Logging
import Reactor
import Relay

/// Keeps where notifications are bound in a file, where there is more than one upstream: written before one is sent, so
/// that a node that dies meanwhile asks the same upstream again. Shared by the lanes of an app.
@EventLoop
final class BoundFile {
    /// Sends a notification.
    ///
    /// - Parameter isLate: Whether the call comes after ``bind(_:to:then:)`` has returned.
    typealias Send = @EventLoop (_ isLate: Bool) -> Void

    private var bound: BoundNotifications
    /// The file's path; `nil`: there is one upstream, and nothing to remember.
    private let path: String?
    private let log: Logger
    private var waiting: [Send] = []
    private var isWriting = false

    /// Reads the file, which the node alone writes; a file that can't be read counts as empty.
    init(_ upstreams: [GatewayURL], path: String, reading file: FileReader, log: Logger) {
        bound = BoundNotifications(upstreams)
        self.path = upstreams.count > 1 && !path.isEmpty ? path : nil
        self.log = log
        if let path = self.path, let bytes = try? file(path) { bound.read(bytes) }
    }

    subscript(id: NotificationID) -> Int? { bound[id] }

    /// Calls `send` once the disk knows that the notification is about to be sent there. A disk that can't be written
    /// holds up nothing.
    func bind(_ id: NotificationID, to upstream: Int, then send: @escaping Send) {
        guard bound.bind(id, to: upstream), path != nil else { return send(false) }
        waiting.append(send)
        write()
    }

    func unclear(_ id: NotificationID) { bound.unclear(id) }
    func notTaken(_ id: NotificationID) { bound.notTaken(id) }
    func ended(_ id: NotificationID) { bound.ended(id) }

    private func write() {
        guard let path, !isWriting, !waiting.isEmpty else { return }
        isWriting = true
        let bytes = bound.bytes
        let due = waiting
        waiting = []
        Task {
            if let error = await PrivateFile.replace(path, with: bytes) {
                log.warning("relay.note_failed", metadata: ["problem": "\(error)"])
            }
            isWriting = false
            for send in due { send(true) }
            write()
        }
    }
}

extension BoundNotifications {
    init(_ upstreams: [GatewayURL]) {
        self.init(
            marks: upstreams.map { url in
                Hash.sha256(Array(url.description.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            })
    }
}
