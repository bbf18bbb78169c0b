import Client
import Crypto
import Encodings
import HTTP1
import JSONCoding
import Lab
import Reactor

/// A stand-in for a trusted node of Bisq 2 as Bisq Connect pairs with it: pairing by HTTP, the REST interface for devices
/// inside of a WebSocket, both with the checks of the original (`AccessApi.java`, `WebSocketRestApiService.java`,
/// `DevicesRestApi.java`).
@EventLoop
package final class SimulatedTrustedNode {
    package struct Device: Equatable, Sendable {
        package let deviceToken: String
        package let descriptor: String
        package let platform: String
        package let key: [UInt8]
    }

    /// By their ids.
    package private(set) var devices: [String: Device] = [:]
    package private(set) var clientNames: [String] = []
    /// Whether it takes requests and says nothing.
    package var isSilent = false
    /// In place of each answer over the WebSocket.
    package var answersWith: String?
    private var codes: Set<String> = []
    /// Of each session, its client.
    private var sessions: [String: String] = [:]
    private var site: SimulatedSite!
    private var sockets: [ObjectIdentifier: WebSocket] = [:]

    package init() throws(SystemError) {
        site = try SimulatedSite { [unowned self] in answer($0) }
    }

    package var endpoint: Endpoint { site.endpoint }

    package func close() {
        site.close()
        for socket in sockets.values { socket.close() }
    }

    /// The text of a new QR code, which can be used once.
    ///
    /// - Parameters:
    ///   - url: Of the WebSocket; `nil`: on this machine.
    ///   - permissions: 0 to 10.
    package func code(url: String? = nil, permissions: ClosedRange<Int32> = 0...10, flags: UInt8 = 0)
        -> String
    {
        let id = Hex.encode(randomBytes(16))
        codes.insert(id)
        func bytes<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
            (1...T.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (T.bitWidth - 8 * $0)) }
        }
        func run(_ content: [UInt8]) -> [UInt8] { bytes(UInt16(content.count)) + content }
        let end = EventLoop.unixMilliseconds + 3_600_000
        var code: [UInt8] = [1] + run(Array(id.utf8)) + bytes(end) + bytes(Int32(permissions.count))
        for permission in permissions { code += bytes(permission) }
        var whole: [UInt8] = [1] + run(code) + run(Array((url ?? "ws://\(endpoint)").utf8)) + [flags]
        if flags & 1 != 0 { whole += run(Array("fingerprint".utf8)) }
        if flags & 2 != 0 { whole += run(Array("secret".utf8)) }
        return Base64.encodeForURL(whole)
    }

    private func answer(_ request: HTTPRequest) -> SimulatedSite.Reply {
        switch request.path {
        case "/api/v1/access/pairing" where request.method == "POST": .answer(pair(request))
        case "/websocket":
            if let session = request.fields["bisq-session-id"],
                sessions[session] == request.fields["bisq-client-id"] ?? ""
            {
                .socket(protocol: nil) { [unowned self] in serve($0) }
            } else {
                .answer(HTTPResponse(status: 401))
            }
        case _: .answer(HTTPResponse(status: 404))
        }
    }

    private func pair(_ request: HTTPRequest) -> HTTPResponse {
        guard let json = try? JSON(request.body), let id = json["pairingCodeId"]?.string,
            let name = json["clientName"]?.string, json["version"]?.integer == 1,
            request.fields["content-type"] == "application/json"
        else { return HTTPResponse(status: 400) }
        guard codes.remove(id) != nil else { return HTTPResponse(status: 401) }
        clientNames.append(name)
        let (client, session) = (Hex.encode(randomBytes(16)), Hex.encode(randomBytes(16)))
        sessions[session] = client
        let answer: JSON = [
            "version": 1, "clientId": .string(client), "clientSecret": .string("not used"),
            "sessionId": .string(session), "sessionExpiryDate": .integer(EventLoop.unixMilliseconds),
        ]
        return HTTPResponse(status: 201, body: Array(answer.text.utf8))
    }

    private func serve(_ socket: WebSocket) {
        sockets[ObjectIdentifier(socket)] = socket
        socket.start { [unowned self, unowned socket] text in
            guard !isSilent else { return }
            if let answersWith { return socket.send(answersWith) }
            guard let json = try? JSON(Array(text.utf8)),
                json["type"]?.string == "WebSocketRestApiRequest", let id = json["requestId"]?.string
            else { return }
            // Whatever the client subscribed to comes in between.
            socket.send(#"{"type":"WebSocketEvent","topic":"MARKET_PRICE"}"#)
            let (status, body) = call(
                json["method"]?.string ?? "", json["path"]?.string ?? "", json["body"]?.string ?? "")
            let answer: JSON = [
                "type": "WebSocketRestApiResponse", "requestId": .string(id),
                "statusCode": .integer(status), "body": .string(body),
            ]
            socket.send(answer.text)
        } onEnd: { [unowned self, unowned socket] in
            sockets[ObjectIdentifier(socket)] = nil
        }
    }

    private func call(_ method: String, _ path: String, _ body: String) -> (status: Int64, body: String) {
        let devicesPath = "/api/v1/mobile-devices/registrations"
        if method == "DELETE", path.hasPrefix(devicesPath + "/") {
            let id = String(path.dropFirst(devicesPath.count + 1))
            return devices.removeValue(forKey: id) == nil ? (404, "Device not found") : (204, "")
        }
        guard method == "POST", path == devicesPath else { return (404, "") }
        guard let json = try? JSON(Array(body.utf8)), let id = json["deviceId"]?.string, !id.isEmpty,
            let token = json["deviceToken"]?.string, json["publicKeyBase64"]?.string?.isEmpty == false,
            let descriptor = json["deviceDescriptor"]?.string, !descriptor.isEmpty,
            let platform = json["platform"]?.string, platform == "ANDROID"
        else {
            return (
                400, "deviceId, deviceToken, publicKeyBase64, deviceDescriptor and platform are required"
            )
        }
        guard (100...300).contains(token.utf16.count) else {
            return (400, "FCM device token has invalid length (expected 100-300 characters)")
        }
        guard let key = json["symmetricKeyBase64"]?.string.flatMap(Base64.decode), key.count == 32 else {
            return (400, "symmetricKeyBase64 must decode to 32 bytes (AES-256)")
        }
        devices[id] = Device(deviceToken: token, descriptor: descriptor, platform: platform, key: key)
        return (200, "Device registered successfully")
    }
}
