import Client
import Crypto
import Encodings
import JSONCoding
import Reactor

/// The side of a push service that browsers see, as Firefox sees Mozilla's: a WebSocket over which it hands out endpoints
/// and carries what comes there (Firefox, `PushServiceWebSocket.sys.mjs`). A real Firefox finds it by the preferences
/// `dom.push.serverURL` and `dom.push.testing.allowInsecureServerURL`.
///
/// Messages that come while a browser is away wait for it.
@EventLoop
package final class SimulatedBrowserService {
    /// One installation of a browser, by the name that it was given.
    private struct Installation {
        var socket: WebSocket?
        /// The path of the endpoint of each channel.
        var channels: [String: String] = [:]
        var waiting: [String] = []
    }

    /// Pushes that wait for one browser; the oldest go.
    private static let mostWaiting = 1000

    private let server: GatewaySimulator
    private var site: SimulatedSite!
    private var installations: [String: Installation] = [:]
    private var sockets: [ObjectIdentifier: WebSocket] = [:]

    /// Opens the service.
    ///
    /// - Parameter server: the push server at which the pushes come in.
    package init(of server: GatewaySimulator) throws(SystemError) {
        self.server = server
        site = try SimulatedSite { [unowned self] _ in
            .socket(protocol: "push-notification") { [unowned self] in greet($0) }
        }
    }

    package var url: String { "ws://\(site.endpoint)/" }

    package func close() {
        site.close()
        for socket in sockets.values { socket.close() }
    }

    private func greet(_ socket: WebSocket) {
        sockets[ObjectIdentifier(socket)] = socket
        var name: String?
        socket.start { [unowned self, unowned socket] text in
            guard let message = try? JSON(Array(text.utf8)) else { return socket.close() }
            if message["messageType"]?.string == "hello" {
                name = welcome(message["uaid"]?.string, at: socket)
            } else if let name {
                answer(message, of: name, at: socket)
            }
        } onEnd: { [unowned self, unowned socket] in
            if let name, installations[name]?.socket === socket { installations[name]?.socket = nil }
            sockets[ObjectIdentifier(socket)] = nil
        }
    }

    /// Greets a browser and returns its name. Another name than it had makes a browser drop its
    /// subscriptions.
    private func welcome(_ known: String?, at socket: WebSocket) -> String {
        let name = known.flatMap { installations[$0] == nil ? nil : $0 } ?? Hex.encode(randomBytes(16))
        installations[name, default: Installation()].socket = socket
        socket.send(
            #"{"messageType":"hello","uaid":"\#(name)","status":200,"use_webpush":true,"broadcasts":{}}"#)
        for text in installations[name]?.waiting ?? [] { socket.send(text) }
        installations[name]?.waiting = []
        return name
    }

    private func answer(_ message: JSON, of name: String, at socket: WebSocket) {
        let channel = message["channelID"]?.string.flatMap { $0.isPlainName ? $0 : nil }
        switch (message["messageType"]?.string, channel) {
        case ("register", let channel?):
            let key = (message["key"]?.string ?? "").filter { $0 != "=" }
            guard Base64.decodeFromURL(key).map(P256.isPoint) == true else {
                return socket.send(#"{"messageType":"register","channelID":"\#(channel)","status":400}"#)
            }
            let path = server.newEndpoint(for: key)
            installations[name]?.channels[channel] = path
            server.onPush(to: path) { [unowned self] push in carry(push, to: channel, of: name) }
            socket.send(
                #"{"messageType":"register","channelID":"\#(channel)","status":200,"pushEndpoint":"\#(server.url + path)"}"#
            )
        case ("unregister", let channel?):
            if let path = installations[name]?.channels.removeValue(forKey: channel) {
                server.unsubscribe(path)
                server.onPush(to: path, nil)
            }
            socket.send(#"{"messageType":"unregister","channelID":"\#(channel)","status":200}"#)
        case ("broadcast_subscribe", _): socket.send(#"{"messageType":"broadcast","broadcasts":{}}"#)
        // `ack` and `nack` have no answer, and an empty object is a sign of life.
        case (nil, _): socket.send("{}")
        case _: break
        }
    }

    private func carry(_ push: AcceptedPush, to channel: String, of name: String) {
        let version = Hex.encode(randomBytes(8))
        let data = Base64.encodeForURL(push.body)
        let text = #"""
            {"messageType":"notification","channelID":"\#(channel)","version":"\#(version)","data":"\#(data)",\#
            "headers":{"encoding":"aes128gcm"}}
            """#
        if let socket = installations[name]?.socket { return socket.send(text) }
        installations[name]?.waiting.append(text)
        let surplus = (installations[name]?.waiting.count ?? 0) - SimulatedBrowserService.mostWaiting
        if surplus > 0 { installations[name]?.waiting.removeFirst(surplus) }
    }
}

extension String {
    /// Whether the text can stand in a JSON text as it is: a UUID of a browser's.
    fileprivate var isPlainName: Bool {
        (1...64).contains(utf8.count)
            && consists { ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") }
    }
}
