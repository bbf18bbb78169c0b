// Any request to the Web Push door. Built by Deploy/tools/fuzz. How bytes become requests is HTTPFuzz.swift's.
@testable import HTTP1
@testable import JSONCoding
@testable import Relay

/// One input: requests as they come, and the same bytes as path, parameters and body of sound ones.
func fuzzWebPush(_ input: [UInt8]) {
    var decoder = HTTPRequestDecoder()
    decoder.append(input.span.bytes)
    while let request = try? decoder.next() { checkRequest(request) }
    let text = String(decoding: input, as: UTF8.self)
    let token = String(repeating: "ab", count: 32)
    for path in ["/relay-to/\(text)", "/relay-to/production/\(token)/\(text)", "/push/\(token)/\(text)"] {
        checkRequest(request(path, [("content-encoding", "aes128gcm")], body: [1]))
    }
    let salt = "salt=" + String(repeating: "A", count: 22)
    let fields = [
        ("content-encoding", "aesgcm"), ("crypto-key", text), ("encryption", salt), ("topic", text),
    ]
    let key = "dh=" + String(repeating: "A", count: 87)
    for (path, key) in [("fcm", text), ("production", key), ("fcm", key)] {
        checkRequest(
            request("/relay-to/\(path)/\(token)", fields + [("crypto-key", key), ("ttl", text)], body: input))
    }
    checkRequest(
        request(
            "/push/\(token)/a", [("content-encoding", "aesgcm"), ("crypto-key", key), ("encryption", salt)],
            body: input))
}

private func request(_ path: String, _ fields: [(String, String)], body: [UInt8]) -> HTTPRequest {
    var request = HTTPRequest(method: "POST", path: path, body: body)
    for (name, value) in fields { request.fields.append(name, value) }
    return request
}

private let settings: WebPushSettings = {
    var settings = WebPushSettings()
    settings.relay.ios = "apns"
    settings.relay.android = "fcm"
    settings.pushApp = "apns"
    return settings
}()

private let now = Instant(unix: 1_795_000_000_000, monotonic: 1)

/// As the door answers it: nothing traps, and what is let in is JSON within the gateway's limit.
private func checkRequest(_ request: HTTPRequest) {
    guard let route = WebPushRoute(path: request.path), let message = try? WebPushMessage(request),
        let submission = WebPushSubmission.make(
            message, to: route, query: request.query, settings, now: now.unix)
    else { return }
    var pipeline = Pipeline(validator: validator, limits: Admission.Limits())
    let one = Digest(high: 1, low: 1)
    let digests = SubmissionDigests(token: one, identity: one, content: one)
    switch pipeline.submit(submission, at: now, digests: { _ in digests }) {
    case .answered(let receipt):
        let answer = WebPushReceipt.response(to: receipt, on: route)
        precondition(
            [410, 413].contains(answer.status), "an answer that is not for a bad message: \(answer.status)")
    case .storing:
        guard case .store(let stored)? = pipeline.beginCommit(at: now)?.first,
            case .prepared(let push) = stored.notification.content
        else { preconditionFailure() }
        let isForGoogle = submission.platform == .android
        let text = isForGoogle ? "{\(push.body)}" : push.body
        guard let body = try? JSON(Array(text.utf8)) else { preconditionFailure("a payload that is no JSON") }
        guard isForGoogle, let data = body["data"]?.object else {
            return precondition(push.body.utf8.count <= 4096)
        }
        precondition(submission.payloadSize ?? 0 <= 4096)
        let size = data.reduce(0) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 0) }
        precondition(size <= submission.payloadSize ?? 0, "bytes that are not counted")
    }
}

private let validator = Validator(
    apps: [
        App(name: "apns", service: APNsService(), isEnabled: true),
        App(name: "fcm", service: FCMService(withNotification: true), isEnabled: true),
    ], defaultIOS: "apns", defaultAndroid: "fcm")
