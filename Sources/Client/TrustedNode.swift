import Crypto
import Encodings
import HTTP1
import JSONCoding
import Reactor

/// A device as Bisq 2's trusted node registers it (`RegisterDeviceRequest.java`).
package struct TrustedNodeDevice: Equatable, Sendable {
    /// The node's key for the device: a device with the same key replaces it.
    package var id: String
    /// The device token; for `ANDROID` any text of 100 to 300 characters.
    package var deviceToken: String
    package var descriptor: String
    /// AES-256.
    package var key: [UInt8]

    package static let tokenLengths = 100...300

    package init(id: String, deviceToken: String, descriptor: String, key: [UInt8]) {
        self.id = id
        self.deviceToken = deviceToken
        self.descriptor = descriptor
        self.key = key
    }

    var json: JSON {
        [
            "deviceId": .string(id), "deviceToken": .string(deviceToken),
            "deviceDescriptor": .string(descriptor), "platform": "ANDROID",
            "symmetricKeyBase64": .string(Base64.encode(key)),
            // Of no use beside the key above, but it has to be there.
            "publicKeyBase64": .string(Base64.encode(Hash.sha256(Array(id.utf8)))),
        ]
    }
}

/// Why a trusted node did not register a device.
package enum TrustedNodeError: Error, Equatable, CustomStringConvertible {
    case exchange(HTTPExchangeError)
    case socket(WebSocket.OpeningError)
    /// The pairing code is unknown, used or over.
    case codeRefused
    /// The answer at this step has not the form that Bisq 2's answers have.
    case unreadable(String)
    case refused(step: String, status: Int64)
    case noAnswer(after: Duration)
    case connectionEnded

    package var description: String {
        switch self {
        case .exchange(let error): error.description
        case .socket(let error): "the trusted node's WebSocket: \(error)"
        case .codeRefused:
            "the trusted node refuses the pairing code: it was used already, or it is too old. Take the one it shows now"
        case .unreadable(let step): "the trusted node's answer to the \(step) cannot be read"
        case .refused(let step, let status): "the trusted node refuses the \(step) with status \(status)"
        case .noAnswer(let duration): "no answer from the trusted node after \(duration)"
        case .connectionEnded: "the trusted node closed the connection without an answer"
        }
    }
}

/// Bisq 2's trusted node, called as Bisq Connect calls it: pairing by HTTP, then its REST interface inside of a WebSocket
/// (`AccessApi.java`, `WebSocketRestApiService.java`, `DevicesRestApi.java`).
@EventLoop
package struct TrustedNode {
    package let host: String
    package let route: PeerRoute
    package let deadline: Duration

    private static let devices = "/api/v1/mobile-devices/registrations"
    /// The name that the node's owner reads in its list of clients.
    package static let clientName = "Onionbell"

    /// Makes a trusted node; `host` is as HTTP's Host field has it.
    package nonisolated init(host: String, route: PeerRoute, deadline: Duration) {
        self.host = host
        self.route = route
        self.deadline = deadline
    }

    /// Registers a device. Uses the pairing code up.
    package func register(
        _ device: TrustedNodeDevice, with code: TrustedNodeCode
    ) async throws(TrustedNodeError) {
        let session = try await pair(with: code)
        let status = try await call("POST", TrustedNode.devices, body: device.json.text, in: session)
        guard status == 200 else { throw .refused(step: "registration", status: status) }
    }

    /// Takes a device out again; whether it was there. Uses the pairing code up.
    package func unregister(_ id: String, with code: TrustedNodeCode) async throws(TrustedNodeError) -> Bool {
        let session = try await pair(with: code)
        let status = try await call("DELETE", "\(TrustedNode.devices)/\(id)", body: "", in: session)
        guard status == 204 || status == 404 else { throw .refused(step: "removal", status: status) }
        return status == 204
    }

    private func pair(with code: TrustedNodeCode) async throws(TrustedNodeError) -> TrustedNodeAnswer.Session
    {
        let body: JSON = [
            "version": 1, "pairingCodeId": .string(code.pairingID),
            "clientName": .string(TrustedNode.clientName),
        ]
        var request = HTTPRequest(
            method: "POST", path: "/api/v1/access/pairing", body: Array(body.text.utf8), isKeptAlive: false)
        request.fields.append("Content-Type", "application/json")
        request.fields.append("Accept", "application/json")
        let answer: HTTPResponse
        do {
            answer = try await HTTPExchange.answer(to: request, host: host, by: route, deadline: deadline)
        } catch {
            throw .exchange(error)
        }
        guard answer.status != 401 else { throw .codeRefused }
        guard answer.status == 201 else { throw .refused(step: "pairing", status: Int64(answer.status)) }
        guard let session = TrustedNodeAnswer.session(answer.body) else { throw .unreadable("pairing") }
        return session
    }

    /// Calls the REST interface inside of a WebSocket, and returns the status of its answer.
    private func call(
        _ method: String, _ path: String, body: String, in session: TrustedNodeAnswer.Session
    ) async throws(TrustedNodeError) -> Int64 {
        let opening = WebSocket.Opening(
            host: host, path: "/websocket",
            fields: [("Bisq-Client-Id", session.client), ("Bisq-Session-Id", session.id)])
        let (socket, unread): (WebSocket, [UInt8])
        do {
            (socket, unread) = try await WebSocket.open(opening, by: route, deadline: deadline)
        } catch {
            throw .socket(error)
        }
        defer { socket.close() }
        let id = Hex.encode(randomBytes(16))
        let request: JSON = [
            "type": "WebSocketRestApiRequest", "requestId": .string(id), "method": .string(method),
            "path": .string(path), "body": .string(body),
        ]
        return try await TrustedNodeCall(id: id).run(
            request.text, over: socket, unread: unread, deadline: deadline
        ).get()
    }
}

/// One request over a WebSocket that may bring other things too.
@EventLoop
private final class TrustedNodeCall {
    private let id: String
    private var continuation: UnsafeContinuation<Result<Int64, TrustedNodeError>, Never>?
    private var timer: Timer?

    init(id: String) { self.id = id }

    func run(
        _ text: String, over socket: WebSocket, unread: [UInt8], deadline: Duration
    ) async -> Result<Int64, TrustedNodeError> {
        await withUnsafeContinuation { continuation in
            self.continuation = continuation
            timer = Timer { [unowned self] in finish(.failure(.noAnswer(after: deadline))) }
            timer?.start(after: deadline)
            socket.send(text)
            socket.start(unread: unread) { [weak self] in
                self?.receive($0)
            } onEnd: { [weak self] in
                self?.finish(.failure(.connectionEnded))
            }
        }
    }

    private func receive(_ text: String) {
        switch TrustedNodeAnswer.call(Array(text.utf8), to: id) {
        case .status(let status): finish(.success(status))
        case .other: break
        case .unreadable: finish(.failure(.unreadable("registration")))
        }
    }

    private func finish(_ result: Result<Int64, TrustedNodeError>) {
        timer?.stop()
        continuation?.resume(returning: result)
        continuation = nil
    }
}
