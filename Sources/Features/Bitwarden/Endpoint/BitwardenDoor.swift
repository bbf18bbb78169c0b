import Crypto
import Dispatching
import Doors
import Encodings
import HTTP1
import Logging
import Persistence
import PushEndpoints
import Reactor
import Relay

/// The settings of the relay for Bitwarden servers.
package struct BitwardenDoorSettings: Sendable {
    package var apps = PushApps()
    /// Devices of one installation.
    package var devices = 10_000
    /// The time for which a send waits for its turn while a phone has had its share: servers send each
    /// only once.
    package var patience: Duration = .seconds(5)
    /// Bytes of all sends that wait for their turns.
    package var patientBytes = 16 << 20

    package init() {}
}

/// The relay that self-hosted Bitwarden servers and Vaultwarden hand their pushes to, in the place of Bitwarden's own:
/// `/connect/token` and `/push/...`.
///
/// Each installation is alone: it reaches only what it has registered itself. Phones that Apple or Google call dead
/// are forgotten. A send is answered when all its notifications are durable; it has no id in this protocol, and two
/// that say the same (a log-out has no date) are two.
@EventLoop
package final class BitwardenDoor: HTTPDoor {
    private let settings: BitwardenDoorSettings
    private let installations: StoredInstallations
    private let devices: StoredBitwardenDevices
    private let queues: PatientQueues
    private let digests: BitwardenDigests
    private let tokens: BitwardenTokens
    private let figures: DoorCounter
    private let dispatcher: Dispatcher
    private let log: Logger

    package init(
        settings: BitwardenDoorSettings, installations: StoredInstallations, devices: StoredBitwardenDevices,
        dispatcher: Dispatcher,
        key: Secret, log: Logger
    ) {
        self.settings = settings
        self.installations = installations
        self.devices = devices
        self.dispatcher = dispatcher
        self.log = log
        digests = BitwardenDigests(key: key)
        tokens = BitwardenTokens(key: key)
        figures = dispatcher.door("bitwarden")
        queues = PatientQueues(
            to: dispatcher, from: figures, patience: settings.patience, budget: settings.patientBytes)
    }

    /// Whether a text is a GUID in the form with hyphens, as installations have it.
    package nonisolated static func isInstallationID(_ text: String) -> Bool { BitwardenBody.isGUID(text) }

    private nonisolated static let tokenPath = "/connect/token"

    /// Whether a path is this door's.
    nonisolated static func isOurs(_ path: String) -> Bool {
        path == tokenPath || path.hasPrefix(PushPath.prefix) && !path.withBytes { PushPath.hasToken($0) }
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard Self.isOurs(path) else { return nil }
        let isToken = path == Self.tokenPath
        return { [self] in answer($0, isToken: isToken, $1) }
    }

    private func answer(
        _ request: HTTPRequest, isToken: Bool, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        Task {
            do throws(BitwardenFault) {
                if isToken {
                    respond(try await token(request))
                } else {
                    try await push(request, respond)
                }
            } catch {
                figures.count(error.status == 401 ? "unauthorized" : "refused")
                respond(error.response)
            }
        }
    }

    package func busyAnswer(_ busy: Busy) -> HTTPResponse { .bitwarden(busy) }

    package func tooLargeAnswer(limit: Int) -> HTTPResponse {
        BitwardenFault(status: 413, message: "The body has more than \(limit) bytes.").response
    }

    // MARK: Tokens

    private func token(_ request: HTTPRequest) async throws(BitwardenFault) -> HTTPResponse {
        guard request.method == "POST" else { return .methodNotAllowed("POST") }
        let asked: BitwardenTokenRequest
        do throws(BitwardenTokenRequest.Fault) {
            asked = try BitwardenTokenRequest(request.body)
        } catch {
            figures.count(error == .invalidClient ? "unauthorized" : "refused")
            return error.response
        }
        let key = digests.key(asked.key, of: asked.installation)
        guard let installation = try await known(asked.installation), installation.isEnabled,
            installation.keyDigest == key
        else {
            figures.count("unauthorized")
            return BitwardenTokenRequest.Fault.invalidClient.response
        }
        figures.count("token")
        let token = tokens.token(for: asked.installation, with: key, at: EventLoop.unixMilliseconds / 1000)
        return .token(
            status: 200,
            """
            {"access_token":"\(token)","expires_in":\(BitwardenTokens.life),"token_type":"Bearer",\
            "scope":"\(BitwardenTokenRequest.scope)"}
            """
        ).forKnown
    }

    /// Returns the installation that asks, by the header or, as the cloud takes it too, by the query.
    private func installation(asking request: HTTPRequest) async throws(BitwardenFault) -> String {
        var token: String?
        if let field = request.fields["authorization"] {
            let parts = field.utf8.split(separator: 0x20, maxSplits: 1)
            guard parts.count == 2, Substring(parts[0]).word() == "bearer" else { throw .unauthorized }
            token = String(parts[1])
        } else if let query = request.query {
            token = (try? HTTPQuery(query))?["access_token"]
        }
        guard let token,
            let bearer = tokens.bearer(of: token, at: EventLoop.unixMilliseconds / 1000),
            let installation = try await known(bearer.installation), installation.isEnabled,
            bearer.holds(installation.keyDigest)
        else { throw .unauthorized }
        return bearer.installation
    }

    private func known(_ id: String) async throws(BitwardenFault) -> Installation? {
        try await stored { () throws(OutboxError) in try await self.installations.installation(id) }
    }

    private func stored<Value: Sendable>(
        _ body: @EventLoop () async throws(OutboxError) -> Value
    ) async throws(BitwardenFault) -> Value {
        do throws(OutboxError) {
            return try await body()
        } catch {
            throw .unavailable
        }
    }

    // MARK: Pushes

    private func push(
        _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) async throws(BitwardenFault) {
        let id = try await installation(asking: request)
        let respond: @EventLoop (HTTPResponse) -> Void = { respond($0.forKnown) }
        let start = PushPath.prefix.utf8.count
        guard
            let path = try? String(percentEncoded: String(Substring(request.path.utf8.dropFirst(start))))
        else { throw .notFound }
        let asked = try BitwardenRequest(
            method: request.method, path: path, body: request.body, installation: id)
        figures.count(asked.word)
        switch asked {
        case .register(let registration): try await register(registration, of: id)
        case .delete(let device):
            let device = digests.device(device, in: id)
            try await stored { () throws(OutboxError) in try await devices.remove(device) }
        case .addOrganization(let organization, let devices):
            try await change(organization, of: devices, isMember: true, in: id)
        case .deleteOrganization(let organization, let devices):
            try await change(organization, of: devices, isMember: false, in: id)
        case .send(let send): return try await deliver(send, of: id, respond)
        }
        respond(.done)
    }

    private func register(
        _ registration: BitwardenRequest.Registration, of id: String
    ) async throws(BitwardenFault) {
        let device = BitwardenDevice(
            id: digests.device(registration.deviceID, in: id), installation: id,
            user: digests.user(registration.userID, in: id),
            identifier: digests.app(registration.identifier, in: id), type: registration.type,
            pushToken: registration.pushToken,
            organizations: registration.organizations.map { digests.organization($0, in: id) })
        let isStored = try await stored { () throws(OutboxError) in
            try await devices.put(device, at: dispatcher.keptTime, limit: settings.devices)
        }
        guard isStored else {
            throw BitwardenFault(message: "This installation has \(settings.devices) devices already.")
        }
    }

    private func change(
        _ organization: String, of ids: [String], isMember: Bool, in id: String
    ) async throws(BitwardenFault) {
        let organization = digests.organization(organization, in: id)
        let changed = ids.map { digests.device($0, in: id) }
        try await stored { () throws(OutboxError) in
            try await devices.change(organization, of: changed, isMember: isMember)
        }
    }

    private func deliver(
        _ send: BitwardenRequest.Send, of id: String,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) async throws(BitwardenFault) {
        let target: BitwardenDevice.Target =
            switch send.target {
            case .installation: .installation(id)
            case .user(let user): .user(digests.user(user, in: id))
            case .organization(let organization): .organization(digests.organization(organization, in: id))
            }
        let acting = send.acting.map { digests.app($0, in: id) }
        var phones: [BitwardenDevice.Phone] = []
        if send.isForPhones {
            phones = try await stored { () throws(OutboxError) in
                try await devices.phones(of: target, except: acting)
            }
        }
        let reached = phones.filter { app(for: $0) != nil }
        guard !reached.isEmpty else { return respond(.done) }
        let answer = BitwardenAnswer(to: reached.count, respond)
        let sentAt = dispatcher.keptTime
        let patient = PatientQueues.Send(from: id, bytes: send.payload.utf8.count)
        let turns = Turns(of: BitwardenDoor.pushesPerTurn)
        for phone in reached {
            guard let app = app(for: phone) else { continue }
            await turns.next()
            var untold: BitwardenAnswer? = answer
            let uid = Base64.encode(randomBytes(24))
            queues.submit(
                of: patient,
                to: PatientQueues.Phone(app: app, deviceToken: DeviceToken(phone.pushToken)),
                { [self] in submission(send, phone, to: app, of: id, uid: uid) }
            ) { [self] receipt in
                untold?.take(receipt)
                untold = nil
                if case .ended(.tokenDead) = receipt { forget(phone, registeredUntil: sentAt) }
            }
        }
    }

    /// Pushes that one turn of the loop submits.
    private static let pushesPerTurn = 24

    /// Returns the app that reaches a phone; `nil`: none reaches this type of device.
    private func app(for phone: BitwardenDevice.Phone) -> String? {
        switch phone.type {
        case BitwardenRequest.ios: settings.apps.ios.first?.name
        case BitwardenRequest.android: settings.apps.android
        default: nil
        }
    }

    private func submission(
        _ send: BitwardenRequest.Send, _ phone: BitwardenDevice.Phone, to app: String,
        of installation: String, uid: String
    ) -> Submission {
        let isApple = phone.type == BitwardenRequest.ios
        let push = send.content(for: phone.type, pushToken: phone.pushToken)
        let platform: Platform = isApple ? (settings.apps.isSandbox ? .iosDev : .ios) : .android
        var submission = Submission(
            uid: uid, platform: platform, app: app, deviceToken: phone.pushToken,
            content: push?.content ?? .prepared(PreparedPush(exactly: "")), payloadSize: push?.payloadSize,
            registeredAt: phone.registeredAt)
        submission.sender = SenderID(installation)
        return submission
    }

    /// Forgets a phone. A registration that came after the push was sent stays: it may have brought the token
    /// back.
    private func forget(_ phone: BitwardenDevice.Phone, registeredUntil time: Int64) {
        figures.count("forgotten")
        Task {
            do throws(OutboxError) {
                try await devices.forget(phone, registeredUntil: time)
            } catch {
                log.warning("registration.removal_failed", metadata: ["reason": "\(error)"])
            }
        }
    }
}

/// The answer to one send: what became of all its notifications.
@EventLoop
private final class BitwardenAnswer {
    private let respond: @EventLoop (HTTPResponse) -> Void
    private var missing: Int
    private var busy: Busy?
    private var isTooLarge = false

    init(to count: Int, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        self.respond = respond
        missing = count
    }

    /// Takes the first receipt of one notification.
    func take(_ receipt: Receipt) {
        switch receipt.answer {
        case .later(let busy): self.busy = busy
        // All else is nothing that the sender can mend, such as a dead token or an app without credentials.
        case .failed(let failure): isTooLarge = isTooLarge || failure.kind == .messageTooLarge
        case .taken: break
        }
        missing -= 1
        guard missing == 0 else { return }
        if isTooLarge {
            respond(BitwardenFault.payloadTooLarge.response)
        } else if let busy {
            respond(.bitwarden(busy))
        } else {
            respond(.done)
        }
    }
}

extension HTTPResponse {
    fileprivate static var done: HTTPResponse { HTTPResponse(status: 200) }

    fileprivate static func bitwarden(_ busy: Busy) -> HTTPResponse {
        var response = BitwardenFault(status: busy.status, message: "Too busy.").response
        response.addRetryAfter(busy)
        return response
    }
}
