import Client
import Crypto
import HTTP1
import HTTP2
import Lab
import Reactor

/// A UnifiedPush server as an onion service has it: plain HTTP/1.1, which tor encrypts. Its rules are those of
/// `UnifiedPush/specifications`, `server.md`, and VAPID as browsers' services check it.
@EventLoop
package final class SimulatedUnifiedPush {
    /// Without headers.
    package private(set) var book: [AcceptedPush] = []
    /// The statuses that it gave.
    package private(set) var answers: [Int] = []
    private var site: SimulatedSite!
    /// Of each path, the application server's key.
    private var keys: [String: String] = [:]

    package init() throws(SystemError) {
        site = try SimulatedSite { [unowned self] in .answer(answer($0)) }
    }

    package var endpoint: Endpoint { site.endpoint }
    package func close() { site.close() }

    /// A phone with a distributor at this server.
    ///
    /// - Parameter host: By which the server is known.
    package func subscribe(at host: String, for vapidKey: String) throws(CryptoError) -> Browser {
        let path = "/up\(keys.count)?up=1"
        keys[path] = vapidKey
        return try Browser(at: "https://\(host)", path: path)
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let status = judge(request)
        answers.append(status)
        return HTTPResponse(status: status)
    }

    private func judge(_ request: HTTPRequest) -> Int {
        let path = request.path + (request.query.map { "?" + $0 } ?? "")
        guard request.method == "POST", let key = keys[path], let host = request.fields["host"] else {
            return 404
        }
        let header = try? VAPIDHeader(
            request.fields["authorization"], audience: "http://\(host)",
            now: EventLoop.unixMilliseconds / 1000, mustBeContactable: false)
        guard header?.key == key else { return 403 }
        guard request.fields["content-encoding"] == "aes128gcm", request.fields["ttl"] != nil,
            request.body.count <= 4096
        else { return 400 }
        book.append(
            AcceptedPush(
                deviceToken: path, headers: HTTP2Headers(), body: request.body, connection: 1,
                isAnswered: true))
        return 201
    }
}
