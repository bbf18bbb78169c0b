import Client
import Doors
import Glibc
import HTTP1
import Node
import Programs

/// The running node, over the socket in its state directory, which only its user may use.
struct NodeSocket {
    let path: String

    /// - Throws: An exit status: 69 no node runs, 77 it is another user's.
    init(_ config: ConfigOption) throws {
        path = StateDirectory.statusSocket(in: try config.settings().stateDirectory)
        guard access(path, R_OK | W_OK) != 0 else { return }
        if errno == EACCES {
            throw fail("\(path) belongs to another user: run this as that user, or as root", status: 77)
        }
        throw fail("no node runs here: there is no \(path)", status: 69)
    }

    func get(_ path: String) async throws -> HTTPResponse {
        try await answer(HTTPRequest(method: "GET", path: path), within: .seconds(10))
    }

    /// - Parameter path: Without a query.
    func send(_ method: String, _ path: String, _ body: [UInt8]) async throws -> HTTPResponse {
        var request = HTTPRequest(method: method, path: path, body: body, isKeptAlive: false)
        if !body.isEmpty { request.fields.append("content-type", "application/json") }
        return try await answer(request, within: PhoneTestDoor.patience + .seconds(10))
    }

    /// What takes as long as a push service.
    ///
    /// - Parameter longest: Bytes of the answer's body; `nil`: as many as usual.
    func post(_ target: String, _ body: [UInt8], longest: Int? = nil) async throws -> HTTPResponse {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var request = HTTPRequest(method: "POST", path: parts[0], body: body, isKeptAlive: false)
        if parts.count > 1 { request.query = parts[1] }
        return try await answer(
            request, within: PhoneTestDoor.patience + .seconds(30),
            longest: longest ?? HTTPLimits().body)
    }

    private func answer(
        _ request: HTTPRequest, within deadline: Duration, longest: Int = HTTPLimits().body
    ) async throws -> HTTPResponse {
        do {
            return try await HTTPExchange.answer(
                to: request, host: "localhost", by: .direct(.unix(path: path)), deadline: deadline,
                longest: longest)
        } catch {
            throw fail("no node answers at \(path): \(error)", status: 69)
        }
    }
}
