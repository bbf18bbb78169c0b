import Doors
import Encodings
import HTTP1

/// The cookies of a browser that enters: its session, and the mark by which it is known again.
extension ConsoleDoor {
    /// The name of the cookie by which a browser is known again. It opens nothing.
    var markCookie: String { cookie + "-known" }

    func set(_ name: String, to value: String, for lifetime: Duration, _ isSecure: Bool) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(lifetime.components.seconds); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// Returns the token of the session that the request has.
    func session(in request: HTTPRequest) -> String? {
        guard let login else { return nil }
        return cookieValue(named: cookie, in: request) { login.isSession($0) }
    }

    /// Returns the mark of a browser that has entered before.
    func mark(in request: HTTPRequest) -> String? {
        guard let login else { return nil }
        return cookieValue(named: markCookie, in: request) { login.isMark($0) }
    }

    /// Returns the first right value of a cookie. Other programs of the machine may have set any number of cookies beside
    /// ours, also of the same name: those open nothing, and keep nobody out.
    private func cookieValue(
        named name: String, in request: HTTPRequest, where isRight: (String) -> Bool
    ) -> String? {
        guard let cookies = request.fields["cookie"] else { return nil }
        for part in cookies.utf8.split(separator: UInt8(ascii: ";")) {
            let pair = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, Array(pair[0]).trimmingBlanks.elementsEqual(name.utf8) else { continue }
            let value = Array(pair[1]).trimmingBlanks
            guard value.count < 100 else { continue }
            let text = String(decoding: value, as: UTF8.self)
            if isRight(text) { return text }
        }
        return nil
    }
}
