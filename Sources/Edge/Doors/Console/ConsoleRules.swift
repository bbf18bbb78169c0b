import Encodings
import HTTP1

/// The rules about what a browser has to show so that no page from elsewhere speaks for its user.
///
/// Loopback is no protection: a page of a stranger makes a browser ask here, under a name that its owner turns to 127.0.0.1
/// (DNS rebinding), by a form, or from another port of this machine, which browsers call the same site. So the names are
/// known, each exactly, and a change shows where it comes from and a field that no form can send.
struct ConsoleRules {
    /// The origins at which browsers find the console, as `http://127.0.0.1:9480`: with the scheme and
    /// without a slash at the end, in lower case.
    let origins: [String]

    /// The field that a change has, with the value 1.
    static let field = "onionbell-console"

    /// Whether the request names one of our names.
    func isForUs(_ request: HTTPRequest) -> Bool {
        guard let host = request.fields["host"] else { return false }
        return origins.contains { Self.host(of: $0) == host }
    }

    /// Returns the origin of a change, if it may be done; `nil`: a page from elsewhere asks for it, or no
    /// browser at all.
    func origin(ofChange request: HTTPRequest) -> String? {
        guard mayRead(request), request.fields[Self.field] == "1",
            let host = request.fields["host"], let origin = request.fields["origin"],
            Self.isOnly(origin, of: "origin", in: request),
            origins.contains(origin), Self.host(of: origin) == host
        else { return nil }
        guard !request.body.isEmpty else { return origin }
        return request.fields["content-type"] == "application/json" ? origin : nil
    }

    /// Returns the origin of the one form, which enters. A page that tells nobody where it is from, as ours, has no origin
    /// in it: then the browser has to say that it is ours.
    func origin(ofForm request: HTTPRequest) -> String? {
        guard mayRead(request), let host = request.fields["host"], let origin = request.fields["origin"],
            Self.isOnly(origin, of: "origin", in: request),
            request.fields["content-type"] == "application/x-www-form-urlencoded",
            let own = origins.first(where: { Self.host(of: $0) == host })
        else { return nil }
        let isOurs = origin == "null" && request.fields["sec-fetch-site"] == "same-origin"
        return isOurs || origin == own ? own : nil
    }

    /// Whether the page that asks, if it is one, is ours: browsers say so, and let no page say it.
    func mayRead(_ request: HTTPRequest) -> Bool {
        let found = request.fields.firstResult(of: "sec-fetch-site") { value -> Bool? in
            value.hasSameBytes(as: "same-origin") || value.hasSameBytes(as: "none")
                ? nil : true
        }
        return found == nil
    }

    /// Whether no other field of this name says anything else.
    private static func isOnly(_ value: String, of name: String, in request: HTTPRequest) -> Bool {
        let other = request.fields.firstResult(of: name) { found -> Bool? in
            found.hasSameBytes(as: value) ? nil : true
        }
        return other == nil
    }

    private static func host(of origin: String) -> Substring {
        for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) {
            return Substring(origin.utf8.dropFirst(scheme.utf8.count))
        }
        return ""
    }
}
