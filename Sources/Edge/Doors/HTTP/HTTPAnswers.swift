import HTTP1
import JSONCoding
import Relay

extension HTTPResponse {
    /// The response, marked as one for somebody who has shown a secret.
    package var forKnown: HTTPResponse {
        var response = self
        response.isForKnown = true
        return response
    }

    /// Returns the response with fields that bind a browser. No other page may frame the answer, load it as a part of its
    /// own, or share a window with it. The browser takes the answer for the type that it names, and tells its address to no
    /// target of a link.
    ///
    /// - Parameter policy: The content security policy: what the answer may load and run; by default nothing.
    package func shielded(policy: String = "default-src 'none'; base-uri 'none'; form-action 'none'")
        -> HTTPResponse
    {
        var response = self
        for (field, value) in [
            ("content-security-policy", "\(policy); frame-ancestors 'none'"),
            ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] { response.fields.append(field, value) }
        return response
    }

    package static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
        var response = HTTPResponse(status: 405, text: "only \(allowed) here")
        response.fields.append("allow", allowed)
        return response
    }

    /// Makes the answer to a call that was not carried out: a word for programs, and a sentence.
    package init(status: Int, fault word: String, _ sentence: String) {
        self.init(status: status, json: ["code": .string(word), "message": .string(sentence)])
    }

    package init(status: Int, json: JSON) {
        var body: [UInt8] = []
        body.append(json: json)
        self.init(status: status, body: body)
        fields.append("content-type", "application/json")
    }

    /// Makes the answer "too much" as plain text.
    package init(_ busy: Busy) {
        self.init(status: busy.status, text: Reason.busy.code)
        addRetryAfter(busy)
    }

    /// Adds the pause to the answer in whole seconds, at least one (RFC 9110, section 10.2.3).
    package mutating func addRetryAfter(_ busy: Busy) {
        fields.append("retry-after", String(max(1, (busy.retryAfter.milliseconds + 999) / 1000)))
    }
}

extension FailureKind {
    /// The status of an answer to a Bisq client. A Bisq 2 that has another relay goes on to it at 500 and above, and at
    /// nothing below (`HttpRequestService.java`): what lies with this node is never 400.
    var bisqStatus: Int {
        switch self {
        case .messageTooLarge: 413
        case .notServed: 503
        case .full: 507
        case .loop: 508
        case .deadToken, .malformedToken, .unknownToken, .foreignToken, .expired, .other: 400
        }
    }
}

extension Busy {
    package var status: Int {
        switch self {
        case .device: 429
        case .node: 503
        }
    }
}

extension HTTPResponse {
    /// Returns the media type of a file of a page, by the ending of its name.
    package static func type(ofFile name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json": "application/manifest+json"
        case "png": "image/png"
        case _: "application/octet-stream"
        }
    }
}
