import Client
import Crypto
import Encodings
import HTTP1
import JSONCoding
import Lab
import LabParts
import Reactor
import StatusIM
import Wire

/// How one protocol says a notification for one phone.
@EventLoop
protocol DoorForm: AnyObject, Sendable {
    var name: String { get }
    var phone: DoorSender.Phone { get }
    /// Whether the same request again is the same notification: then its sender repeats it until it has a receipt.
    /// Others never do, as a repetition would be another notification.
    var isRepeated: Bool { get }

    /// What must be done once before, such as registering the phone; called until it throws nothing.
    func prepare(at world: ChaosWorld) async throws
    func request(saying message: String) -> HTTPRequest
    /// Whether an answer with status 2xx says that it is stored.
    func isReceipt(_ answer: HTTPResponse) -> Bool
}

extension DoorForm {
    func prepare(at world: ChaosWorld) async throws {}
    func isReceipt(_ answer: HTTPResponse) -> Bool { true }
}

/// Sends to one phone by a door for others than Bisq, one notification after the other.
@EventLoop
final class DoorSender {
    struct Phone: Sendable {
        let platform: Platform
        let deviceToken: String
        var isApple: Bool { platform == .ios }
    }

    private let form: any DoorForm
    private let world: ChaosWorld
    private let client: String?
    private var count = 0
    private var isPrepared = false

    /// - Parameter client: Its address, where it comes by way of nginx; `nil`: it comes straight to the door.
    init(_ form: any DoorForm, by world: ChaosWorld, from client: String?) {
        self.form = form
        self.world = world
        self.client = client
    }

    func send(_ count: Int, until deadline: ContinuousClock.Instant) async throws {
        while !isPrepared {
            do {
                try await form.prepare(at: world)
                isPrepared = true
            } catch {
                guard ContinuousClock.now < deadline else {
                    throw ChaosError("\(form.name) could not begin: \(error)")
                }
                await pause(.milliseconds(20))
            }
        }
        for _ in 0..<count { try await send(until: deadline) }
    }

    private func send(until deadline: ContinuousClock.Instant) async throws {
        count += 1
        var entry = MobileNotificationRequest()
        entry.uid = "\(form.name)-\(form.phone.isApple ? "apple" : "google")-\(count)"
        entry.deviceToken = form.phone.deviceToken
        entry.message = Sender.message(saying: entry.uid)
        world.books.sending(entry, isByDoor: true)
        var request = form.request(saying: entry.message)
        if let client { request.fields.append("x-real-ip", client) }
        let route = client.flatMap { _ in world.proxyRoute } ?? world.doorRoute
        while ContinuousClock.now < deadline {
            do throws(HTTPExchangeError) {
                let answer = try await HTTPExchange.answer(
                    to: request, host: "node", by: route, deadline: .seconds(30))
                if (200..<300).contains(answer.status), form.isReceipt(answer) {
                    return world.books.stored(entry.uid)
                }
                // nginx does not say whether the node had it before it was gone.
                let isUnclear = client != nil && answer.status == 502
                if isUnclear, !form.isRepeated { return world.books.gaveUp(entry.uid) }
                guard isUnclear || [200, 429, 503].contains(answer.status) else {
                    return world.books.violate("\(entry.uid): answered \(answer.status)")
                }
                await pause(.milliseconds(50))
            } catch .dial {
                await pause(.milliseconds(10))
            } catch {
                guard form.isRepeated else { return world.books.gaveUp(entry.uid) }
                await pause(.milliseconds(5))
            }
        }
        throw ChaosError("no receipt for \(entry.uid) in time")
    }
}

/// A Mastodon server that sends the same bytes again.
@EventLoop
final class WebPushForm: DoorForm {
    let name = "web-push"
    let phone: DoorSender.Phone
    let isRepeated = true

    init(_ phone: DoorSender.Phone) { self.phone = phone }

    func request(saying message: String) -> HTTPRequest {
        let environment = phone.isApple ? "production" : "fcm"
        var request = HTTPRequest(
            method: "POST", path: "/relay-to/\(environment)/\(phone.deviceToken)/\(message)",
            body: Array(repeating: 7, count: 300))
        request.fields.append("content-encoding", "aes128gcm")
        request.fields.append("ttl", "86400")
        return request
    }
}

/// A push server of Status that posts to its gorush.
@EventLoop
final class GorushForm: DoorForm {
    let name = "gorush"
    let phone: DoorSender.Phone
    let isRepeated = false

    init(_ phone: DoorSender.Phone) { self.phone = phone }

    func request(saying message: String) -> HTTPRequest {
        let element: JSON = [
            "tokens": .array([.string(phone.deviceToken)]), "platform": phone.isApple ? 1 : 2,
            "message": "You have a new message", "production": .bool(true),
            "data": ["encrypted": .string(message)],
        ]
        let body: JSON = ["notifications": .array([element])]
        return HTTPRequest(method: "POST", path: "/api/push", body: Array(body.text.utf8))
    }

    func isReceipt(_ answer: HTTPResponse) -> Bool {
        (try? JSON(answer.body))?["logs"] == .array([])
    }
}

/// A self-hosted Bitwarden server with one user who has one phone.
@EventLoop
final class BitwardenForm: DoorForm {
    let name = "bitwarden"
    let phone: DoorSender.Phone
    let isRepeated = false
    private let installation: (id: String, key: String)
    private let user = StatusIMPhone.uuid()
    private var token = ""

    init(_ phone: DoorSender.Phone, _ installation: (id: String, key: String)) {
        self.phone = phone
        self.installation = installation
    }

    func prepare(at world: ChaosWorld) async throws {
        let form =
            "grant_type=client_credentials&scope=api.push&client_id=installation.\(installation.id)&client_secret=\(installation.key)"
        let answer = try await HTTPExchange.answer(
            to: HTTPRequest(method: "POST", path: "/connect/token", body: Array(form.utf8)), host: "node",
            by: world.doorRoute)
        guard let token = try JSON(answer.body)["access_token"]?.string else {
            throw ChaosError("no token: \(answer.status)")
        }
        self.token = token
        let registered = try await HTTPExchange.answer(
            to: request(
                "register",
                [
                    "deviceId": .string(user), "userId": .string(user), "identifier": .string(user),
                    "pushToken": .string(phone.deviceToken), "type": phone.isApple ? 1 : 0,
                ]), host: "node", by: world.doorRoute)
        guard registered.status == 200 else { throw ChaosError("not registered: \(registered.status)") }
    }

    func request(saying message: String) -> HTTPRequest {
        request("send", ["userId": .string(user), "type": 5, "payload": ["words": .string(message)]])
    }

    private func request(_ path: String, _ body: JSON) -> HTTPRequest {
        var request = HTTPRequest(method: "POST", path: "/push/\(path)", body: Array(body.text.utf8))
        request.fields.append("authorization", "Bearer \(token)")
        return request
    }
}

/// A contact of a Status client.
@EventLoop
final class StatusIMForm: DoorForm {
    let name = "status"
    let phone: DoorSender.Phone
    let isRepeated = true
    private let client: StatusIMPhone

    init(_ phone: DoorSender.Phone) {
        self.phone = phone
        client = StatusIMPhone(
            phone.isApple ? .apns : .firebase, deviceToken: phone.deviceToken, topic: GatewayFiles.topic)
    }

    func prepare(at world: ChaosWorld) async throws {
        guard let server = world.statusKey else { throw ChaosError("no key") }
        let answer = try await HTTPExchange.answer(
            to: message(try client.registering(at: server)), host: "node", by: world.doorRoute)
        // Taken now, or before and the answer was lost: then the version is known.
        let told = try SignedMessage(answer.body).payload.prefix(2)
        guard answer.status == 200, told == [8, 1] || told == [16, 2] else {
            throw ChaosError("not registered")
        }
    }

    func request(saying message: String) -> HTTPRequest {
        self.message(client.request(chat: Array(message.utf8)))
    }

    private func message(_ bytes: [UInt8]) -> HTTPRequest {
        HTTPRequest(method: "POST", path: "/status/v1/message", body: bytes)
    }

    /// The one report says success.
    func isReceipt(_ answer: HTTPResponse) -> Bool {
        guard let payload = try? SignedMessage(answer.body).payload, payload.count > 37 else { return false }
        // Behind the request's id of 32 bytes.
        return payload[34] == 0x12 && payload[36..<38] == [8, 1]
    }
}
