// Any request to the doors of today's Bisq clients. Built by Deploy/tools/fuzz. How bytes become requests is HTTPFuzz.swift's.
@testable import HTTP1
@testable import JSONCoding
@testable import Relay
@testable import Wire

/// One input: requests as they come, and the same bytes as query, body and token of sound ones.
func fuzzRelay(_ input: [UInt8]) {
    var decoder = HTTPRequestDecoder()
    decoder.append(input.span.bytes)
    while let request = try? decoder.next() { checkRequest(request) }
    let text = String(decoding: input, as: UTF8.self)
    checkRequest(HTTPRequest(method: "GET", path: "/relay", query: text))
    checkRequest(HTTPRequest(method: "POST", path: "/v1/fcm", body: input))
    checkRequest(HTTPRequest(method: "POST", path: "/v1/apns/device/\(text)", body: sound))
    _ = HTTPRequest.isJSON(text)
    var request = MobileNotificationRequest()
    (request.platform, request.app, request.uid) = (.ios, text, text)
    checkPeer(request)
}

private let sound = Array(#"{"encrypted":"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=","isUrgent":true}"#.utf8)

/// As the door answers it: nothing traps, and what is let in holds nothing that a gateway's JSON or path would break on.
private func checkRequest(_ request: HTTPRequest) {
    guard let route = RelayRoute(path: request.path) else { return }
    let submission: Submission
    switch route {
    case .get:
        guard let query = try? HTTPQuery(request.query ?? ""),
            let read = RelayGetForm.submission(query, bisq1: PhoneApps(), bisq2: PhoneApps())
        else { return }
        submission = read
    case .post(let gateway, let token):
        _ = HTTPRequest.isJSON(request.fields["content-type"])
        switch RelayPostForm.submission(request, gateway, token: token, app: "") {
        case .success(let read): submission = read
        case .failure(let refusal): return checkAnswer(refusal.response)
        }
    }
    var pipeline = Pipeline(validator: validator, limits: Admission.Limits())
    let now = Instant(unix: 1_795_000_000_000, monotonic: 1)
    let one = Digest(high: 1, low: 1)
    let digests = SubmissionDigests(token: one, identity: one, content: one)
    switch pipeline.submit(submission, at: now, digests: { _ in digests }) {
    case .answered(let receipt):
        checkAnswer(RelayGetForm.response(to: receipt))
        checkAnswer(RelayPostForm.response(to: receipt))
    case .storing:
        guard case .store(let request)? = pipeline.beginCommit(at: now)?.first else { preconditionFailure() }
        let notification = request.notification
        guard case .bisq(let content) = notification.content else { preconditionFailure("not Bisq's") }
        precondition(
            (content.message + notification.deviceToken.text).utf8.allSatisfy {
                (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }, "a character that JSON must escape")
        precondition(
            notification.deviceToken.text.utf8.allSatisfy { $0 != UInt8(ascii: "/") }, "a path of its own")
        precondition(content.message.utf8.count < Validator.payloadLimit)
    }
}

/// What is echoed is no more than a uid may have.
private func checkPeer(_ request: MobileNotificationRequest) {
    var pipeline = Pipeline(validator: validator, limits: Admission.Limits())
    let now = Instant(unix: 1_795_000_000_000, monotonic: 1)
    let one = Digest(high: 1, low: 1)
    let digests = SubmissionDigests(token: one, identity: one, content: one)
    guard
        case .answered(let receipt) = pipeline.submit(Submission(request), at: now, digests: { _ in digests }),
        let response = MobileNotificationResponse(receipt, to: request.uid)
    else { return }
    precondition(response.requestUid.utf8.count <= 64)
}

private let validator: Validator = {
    let apps = [
        App(name: "apns", service: APNsService(), isEnabled: true),
        App(name: "fcm", service: FCMService(withNotification: true), isEnabled: true),
    ]
    return Validator(apps: apps, defaultIOS: "apns", defaultAndroid: "fcm")
}()

/// A client reads what was meant, and nothing is left over.
private func checkAnswer(_ response: HTTPResponse) {
    var bytes: [UInt8] = []
    response.encode(into: &bytes)
    var decoder = HTTPResponseDecoder()
    decoder.append(bytes.span.bytes)
    guard let answer = try? decoder.next() else { preconditionFailure("an answer that is no HTTP") }
    precondition(answer.status == response.status && answer.body == response.body)
    precondition((try? decoder.end()) == .some(nil), "bytes behind an answer")
}
