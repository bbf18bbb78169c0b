import Doors
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
        return origins.contains { Self.host(of: $0) == Self.oneSpelling(of: host, for: $0) }
    }

    /// Returns a host in the one spelling that ``origins`` have.
    private static func oneSpelling(of host: String, for origin: String) -> Substring {
        Substring(OneSpelling.host(host, usualPort: origin.hasPrefix("https:") ? 443 : 80) ?? "")
    }

    /// Whether a browser means that origin of ours: its host may be spelled otherwise, as with a dot at the end.
    private static func isOrigin(_ named: String, _ own: String) -> Bool {
        let scheme = own.utf8.count - host(of: own).utf8.count
        let isScheme = named.utf8.prefix(scheme).elementsEqual(own.utf8.prefix(scheme)) {
            ASCII.lowercased($0) == $1
        }
        guard isScheme else { return false }
        return oneSpelling(of: String(Substring(named.utf8.dropFirst(scheme))), for: own) == host(of: own)
    }

    /// Returns the origin of a change, if it may be done; `nil`: a page from elsewhere asks for it, or no
    /// browser at all.
    func origin(ofChange request: HTTPRequest) -> String? {
        guard mayRead(request), request.fields[Self.field] == "1",
            let host = request.fields["host"], let named = request.fields["origin"],
            Self.isOnly(named, of: "origin", in: request),
            let origin = origins.first(where: { Self.isOrigin(named, $0) }),
            Self.host(of: origin) == Self.oneSpelling(of: host, for: origin)
        else { return nil }
        guard !request.body.isEmpty else { return origin }
        return Self.isBody(of: request, "application/json") ? origin : nil
    }

    /// Returns the origin of the one form, which enters. A page that tells nobody where it is from, as ours, has no origin
    /// in it: then the browser has to say that it is ours.
    func origin(ofForm request: HTTPRequest) -> String? {
        guard mayRead(request), let host = request.fields["host"], let origin = request.fields["origin"],
            Self.isOnly(origin, of: "origin", in: request),
            Self.isBody(of: request, "application/x-www-form-urlencoded"),
            let own = origins.first(where: { Self.host(of: $0) == Self.oneSpelling(of: host, for: $0) })
        else { return nil }
        let isOurs = origin == "null" && request.fields["sec-fetch-site"] == "same-origin"
        return isOurs || Self.isOrigin(origin, own) ? own : nil
    }

    /// Whether the request comes from a page of ours, or from no page. Browsers say where a page comes from, and let no page
    /// say so itself.
    func mayRead(_ request: HTTPRequest) -> Bool {
        let found = request.fields.firstResult(of: "sec-fetch-site") { value -> Bool? in
            value.hasSameBytes(as: "same-origin") || value.hasSameBytes(as: "none")
                ? nil : true
        }
        return found == nil
    }

    private static func isBody(of request: HTTPRequest, _ type: String) -> Bool {
        request.fields["content-type"].map { OneSpelling.isType($0, type) } ?? false
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
