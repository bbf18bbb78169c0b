import Encodings
import HTTP1
import JSONCoding
import Reactor

/// Entering without scripts: a form of the page, and behind it the state as text.
extension ConsoleDoor {
    static let formPath = "/enter"

    func enterByForm(
        _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        let plain: @EventLoop (Int, String) -> Void = { status, text in
            var response = HTTPResponse(status: status, text: text).shielded()
            response.fields.append("cache-control", "no-store")
            respond(response)
        }
        guard let origin = rules.origin(ofForm: request) else {
            return plain(403, "only the console's own page may ask this")
        }
        guard let login else { return plain(409, "the login is that of the platform") }
        // A form writes a blank as a plus sign, and a plus sign as %2B (URL Standard, section 5).
        let body = request.body.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let form = try? HTTPQuery(body.span) else { return plain(400, "not a form") }
        let link = form["link"] ?? ""
        var copy = request
        copy.body = Array(
            JSON.object(
                link.isEmpty
                    ? ["passphrase": .string(form["passphrase"] ?? "")] : ["link": .string(link)]
            ).text.utf8)
        enter(copy, isSecure: origin.hasPrefix("https://"), by: login) { response in
            guard response.fields["set-cookie"] != nil else {
                let message = (try? JSON(response.body))?["message"]?.string
                return plain(response.status, message ?? "not accepted")
            }
            var moved = response
            moved.status = 303
            moved.fields.append("location", "status.txt")
            moved.fields.append("cache-control", "no-store")
            respond(moved.shielded())
        }
    }
}
