// Any text where a subscription of a browser's is expected, and any answer of a push server. Built by Deploy/tools/fuzz.
@testable import JSONCoding
@testable import Relay

func fuzzPushToken(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    if let subscription = WebPushSubscription(text) {
        precondition(WebPushSubscription(subscription.text) == subscription, "a subscription with two texts")
        check(subscription.endpoint)
    }
    if let endpoint = PushEndpoint(text) {
        precondition(
            PushEndpoint("https://\(endpoint.withoutScheme)") == endpoint, "an endpoint with two texts")
        check(endpoint)
        let made = WebPushSubscription(
            endpoint: endpoint, point: [4] + [UInt8](repeating: 7, count: 64),
            auth: [UInt8](repeating: 9, count: 16))
        // An endpoint may be so full of escapes that its token is over the limit.
        if let made, made.text.utf8.count <= WebPushSubscription.longest {
            precondition(WebPushSubscription(made.text) == made)
        }
    }
    if let pattern = PushHosts.Pattern(text) { _ = PushHosts([pattern]).hosts }
    for status in [200, 400, 401, 404, 429, 503] {
        let verdict = WebPushAnswer.verdict(GatewayAnswer(status: status, body: input))
        if case .refused(let reason, _, let detail) = verdict.outcome {
            precondition(detail == nil && reason.utf8.count <= 32, "a text of the server's")
        }
    }
}

/// What is called and written into a request's head holds nothing that ends a line, and leads where it says.
private func check(_ endpoint: PushEndpoint) {
    precondition((endpoint.host + endpoint.path).utf8.allSatisfy { (0x21...0x7e).contains($0) })
    precondition(endpoint.path.hasPrefix("/") && !endpoint.host.isEmpty)
    precondition(!endpoint.host.contains("@") && !endpoint.host.contains("/"))
    guard anyHost.allow(endpoint) else { return }
    precondition(endpoint.port == 443 && endpoint.host.contains(".") && !endpoint.host.contains(":"))
    guard let lane = anyHost.lane(of: endpoint) else { preconditionFailure("a host without a lane") }
    precondition(lane.isOrigin == !anyHost.hosts.contains(endpoint.authority))
}

private let anyHost = PushHosts([.any])
