import Crypto
import Doors
import EndpointWorlds
import Foundation
import HTTP1
import Lab
import Persistence
import PushEndpoints
import Reactor
import Relay
import Testing
import Vectors

@testable import Bitwarden

/// The door for Bitwarden servers with everything behind it, down to the simulated gateways.
@EventLoop
final class BitwardenWorld {
    static let vectors = try! BitwardenVectors.read()

    let relay: RelayWorld
    let installations: StoredInstallations
    let devices: StoredBitwardenDevices
    let digests = BitwardenDigests(key: Secret([7]))
    private let http: HTTPServer
    private let endpoint: Endpoint
    private var tokens: [String: String] = [:]
    private var sendsChunks = false
    /// Pushes that were compared already.
    private var seen = (apple: 0, google: 0)

    init(
        door: (inout BitwardenDoorSettings) -> Void = { _ in },
        relay change: (inout RelayWorld.Options) -> Void = { _ in }
    ) async throws {
        let topic = Self.vectors.config.apns_topic
        relay = try await RelayWorld {
            $0.apps.append(("bitwarden-ios", topic))
            change(&$0)
        }
        var settings = BitwardenDoorSettings()
        settings.apps.ios = [PushApps.Apple(name: "bitwarden-ios", topic: topic)]
        settings.apps.android = "android"
        door(&settings)
        installations = try await StoredInstallations(in: relay.store)
        devices = try await StoredBitwardenDevices(in: relay.store)
        let door = BitwardenDoor(
            settings: settings, installations: installations, devices: devices, dispatcher: relay.dispatcher,
            key: Secret([7]), log: relay.log)
        http = HTTPServer(doors: [door])
        endpoint = try http.open(on: .host("127.0.0.1", port: 0))
        for installation in Self.vectors.config.installations.values {
            try await add(installation.id, key: installation.key)
        }
    }

    func add(_ id: String, key: String, isEnabled: Bool = true) async throws {
        try await installations.put(
            Installation(
                id: id, keyDigest: digests.key(key, of: id), isEnabled: isEnabled, addedAt: 0))
    }

    func end() async {
        await http.close()
        await relay.end()
    }

    /// How often the door has counted this.
    func events(_ word: String) -> Int {
        relay.dispatcher.doors.first { $0.name == "bitwarden" }?.figures.events[word] ?? 0
    }

    // MARK: Asking

    /// As the servers ask: nothing is said of a body that is not there. JSON comes in turns with a length (reqwest,
    /// Vaultwarden) and in chunks (.NET, the official server).
    func ask(
        _ method: String, _ path: String, token: String? = nil, type: String = "application/json",
        _ body: [UInt8] = []
    ) async throws -> HTTPResponse {
        defer { sendsChunks.toggle() }
        var request = Array("\(method) \(path) HTTP/1.1\r\nHost: a\r\n".utf8)
        if let token { request += Array("Authorization: Bearer \(token)\r\n".utf8) }
        if !body.isEmpty { request += Array("Content-Type: \(type)\r\n".utf8) }
        if body.isEmpty {
            request += Array("\r\n".utf8)
        } else if sendsChunks, type == "application/json" {
            let size = String(body.count, radix: 16)
            request += Array("Transfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8) + body
            request += Array("\r\n0\r\n\r\n".utf8)
        } else {
            request += Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        return try #require(await HTTPClient(endpoint).ask(request))
    }

    func askToken(_ body: String) async throws -> HTTPResponse {
        try await ask(
            "POST", "/connect/token", type: "application/x-www-form-urlencoded", Array(body.utf8))
    }

    /// The token of an installation of the vectors, got once.
    func token(_ name: String?) async throws -> String? {
        guard let name else { return nil }
        if let token = tokens[name] { return token }
        let installation = try #require(Self.vectors.config.installations[name])
        let answer = try await askToken(
            "grant_type=client_credentials&scope=api.push&client_id=installation.\(installation.id)&client_secret=\(installation.key)"
        )
        let token = try #require(
            (try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])?["access_token"]
                as? String)
        tokens[name] = token
        return token
    }

    func ask(
        _ method: String, _ path: String, as name: String?, _ body: AnyJSON?
    ) async throws -> HTTPResponse {
        try await ask(
            method, path, token: try await token(name), try body.map { try encoded($0) } ?? [])
    }

    func encoded(_ value: AnyJSON) throws -> [UInt8] { Array(try JSONEncoder().encode(value)) }

    func json(_ body: some Sequence<UInt8>) throws -> AnyJSON {
        try JSONDecoder().decode(AnyJSON.self, from: Data(Array(body)))
    }

    func register(_ name: String) async throws {
        let call = try #require(Self.vectors.registers_in_order.first { $0.name.hasPrefix(name) })
        #expect(try await ask("POST", "/push/register", as: call.as, call.body).status == 200)
    }

    func registerAll() async throws {
        for call in Self.vectors.registers_in_order {
            #expect(try await ask("POST", "/push/register", as: call.as, call.body).status == call.status)
        }
    }

    // MARK: What came

    /// Compares what has come since the last call, in whatever order; payload texts as the JSON that they hold.
    func expect(_ vectors: [BitwardenVectors.Push], sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        _ = await relay.pushes(seen.apple + seen.google + vectors.count)
        let apple = relay.apple.book.dropFirst(seen.apple)
        let google = relay.google.book.dropFirst(seen.google)
        seen = (relay.apple.book.count, relay.google.book.count)
        #expect(apple.count + google.count == vectors.count, sourceLocation: sourceLocation)
        let messages = try google.map { opened(try json($0.body)) }
        for vector in vectors {
            if let message = vector.fcm_message {
                #expect(
                    messages.contains(opened(.object(["message": message]))), sourceLocation: sourceLocation)
            }
            guard let apns = vector.apns else { continue }
            let push = try #require(
                try apple.first {
                    try $0.headers[":path"] == apns.path && opened(json($0.body)) == opened(apns.payload)
                }, "\(apns.payload) is not among what came", sourceLocation: sourceLocation)
            let headers = Dictionary(
                push.headers.all.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            for (name, value) in apns.headers {
                #expect(headers[name] == value, "\(name)", sourceLocation: sourceLocation)
            }
        }
    }

    /// With the text under `payload` read as the JSON that it is.
    private func opened(_ value: AnyJSON) -> AnyJSON {
        guard case .object(let members) = value else { return value }
        return .object(
            Dictionary(
                uniqueKeysWithValues: members.map { key, value in
                    if key == "payload", case .string(let text) = value, let inner = try? json(text.utf8) {
                        return (key, .array([.string("text"), inner]))
                    }
                    return (key, opened(value))
                }))
    }
}
