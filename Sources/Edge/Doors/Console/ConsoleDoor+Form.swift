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
        guard let form = try? HTTPQuery(request.body.span) else { return plain(400, "not a form") }
        let link = form["link"] ?? ""
        var copy = request
        copy.body = Array(
            JSON.object(
                link.isEmpty
                    ? ["passphrase": .string(form["passphrase"] ?? "")] : ["link": .string(link)]
            ).text.utf8)
        enter(copy, isSecure: origin.hasPrefix("https://"), by: login) { response in
            guard let cookie = response.fields["set-cookie"] else {
                let message = (try? JSON(response.body))?["message"]?.string
                return plain(response.status, message ?? "not accepted")
            }
            var moved = HTTPResponse(status: 303, text: "status.txt").forKnown
            moved.fields.append("location", "status.txt")
            moved.fields.append("set-cookie", cookie)
            moved.fields.append("cache-control", "no-store")
            respond(moved.shielded())
        }
    }
}
