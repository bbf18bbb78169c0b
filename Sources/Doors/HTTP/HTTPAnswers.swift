import HTTP1
import Relay

extension HTTPResponse {
    static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
        var response = HTTPResponse(status: 405, text: "only \(allowed) here")
        response.fields.append("allow", allowed)
        return response
    }

    /// Whole seconds, at least one (RFC 9110, section 10.2.3).
    mutating func addRetryAfter(_ busy: Busy) {
        fields.append("retry-after", String(max(1, (busy.retryAfter.milliseconds + 999) / 1000)))
    }
}

extension Busy {
    var status: Int {
        switch self {
        case .device: 429
        case .node: 503
        }
    }
}
