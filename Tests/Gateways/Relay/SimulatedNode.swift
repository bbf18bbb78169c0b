import Reactor
import Wire

@testable import Gateways

let readFile: FileReader = { (path) throws(SystemError) in try PrivateFile.read(path, limit: 1 << 18) }

/// The peer endpoint of a node that says what it is told to, however wrong.
@EventLoop
final class SimulatedNode: StreamHandler {
    enum Step {
        case say([MobileNotificationResponse.Status], reason: String = "", retryAfter: Int64 = 0)
        case bytes([UInt8])
        case closes
        case says(Message)
    }

    private(set) var requests: [MobileNotificationRequest] = []
    private(set) var others: [Message] = []
    private(set) var connections = 0
    /// For the next requests; then each is delivered.
    var steps: [Step] = []

    private var listener: Listener!
    private var streams: [Stream] = []
    private var decoders: [ObjectIdentifier: FrameDecoder] = [:]

    init() throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            connections += 1
            streams.append(stream)
            decoders[ObjectIdentifier(stream)] = FrameDecoder(maximumLength: 65_536)
            stream.handler = self
        }
    }

    var address: String { "\(listener.endpoint)" }

    func close() {
        listener.close()
        for stream in streams { stream.close() }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        let bytes = Span<UInt8>(_bytes: bytes)
        var position = 0
        while let frame = try? decoders[ObjectIdentifier(stream)]?.nextFrame(in: bytes, from: &position) {
            let envelope =
                switch frame {
                case .within(let range): try? Envelope(parsing: bytes, in: range)
                case .assembled(let body): try? Envelope(parsing: body)
                }
            guard case .notificationRequest(let request)? = envelope?.message else {
                if let message = envelope?.message { others.append(message) }
                continue
            }
            requests.append(request)
            answer(request, steps.isEmpty ? .say([.stored, .delivered]) : steps.removeFirst(), stream)
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { stream.close() }

    private func answer(_ request: MobileNotificationRequest, _ step: Step, _ stream: Stream) {
        switch step {
        case .say(let statuses, let reason, let retryAfter):
            for status in statuses {
                write(
                    .notificationResponse(
                        MobileNotificationResponse(
                            requestUid: request.uid, status: status,
                            reason: status == .stored ? "" : reason, retryAfterMilliseconds: retryAfter)),
                    to: stream)
            }
        case .bytes(let bytes): stream.write { $0 += bytes }
        case .closes: stream.close()
        case .says(let message): write(message, to: stream)
        }
    }

    private func write(_ message: Message, to stream: Stream) {
        stream.write { Envelope(messageVersion: 10, message: message).appendFrame(to: &$0) }
    }
}
