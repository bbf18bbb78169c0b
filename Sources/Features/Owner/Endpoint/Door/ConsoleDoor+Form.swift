import Doors
import Encodings
import HTTP1
import JSONCoding
import Reactor

/// Entering without scripts: a form of the page, and behind it the state as text.
extension ConsoleDoor {
    static let formPath = "/enter"

    /// Returns the secret of a link, of which people paste the whole, what a mail has broken into lines, or either in brackets
    /// or quotation marks.
    nonisolated static func secret(inLink text: String) -> String {
        guard text.utf8.count <= longestLink else { return text }
        let bytes = text.utf8.filter { $0 > 0x20 }
        let marker = Array("enter=".utf8)
        var start = 0
        for end in bytes.indices where bytes[...end].suffix(marker.count).elementsEqual(marker) {
            start = end + 1
        }
        let secret = bytes[start...].drop { !isOfSecret($0) }.prefix { isOfSecret($0) }
        return String(decoding: secret, as: UTF8.self)
    }

    /// Whether a link's secret may have this byte: it is Base64 for addresses (RFC 4648, section 5).
    private nonisolated static func isOfSecret(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        case _: false
        }
    }

    /// Bytes of the longest link: an origin, and what stands behind it.
    private nonisolated static let longestLink = 600

    func enterByForm(
        _ request: HTTPRequest, watching client: LiveAnswer?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
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
        enter(copy, isSecure: origin.hasPrefix("https://"), by: login, watching: client) { response in
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
