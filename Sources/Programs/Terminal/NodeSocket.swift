import Client
import Doors
import Glibc
import HTTP1
import JSONCoding
import Node
import Processes

/// The running node, over the socket in its state directory, which only its user may use.
package struct NodeSocket {
    package let path: String

    /// Bytes of an answer: the longest is a backup, of 4 MiB and its seal.
    private static let longest = 5 << 20

    package init(_ config: ConfigOption) throws { try self.init(in: config.settings().stateDirectory) }

    /// Finds the socket of the node with this state directory.
    ///
    /// - Throws: An exit status: 69 no node runs, 77 the socket is another user's.
    package init(in stateDirectory: String) throws {
        path = StateDirectory.statusSocket(in: stateDirectory)
        guard !NodeSocket.isOpen(in: stateDirectory) else { return }
        if errno == EACCES {
            throw fail("\(path) belongs to another user: run this as that user, or as root", status: 77)
        }
        throw fail(
            "no node runs here: there is no \(path). Start it (sudo systemctl start onionbell), or name its settings with --config",
            status: 69)
    }

    /// Whether the socket is there and this user may use it. A node that was killed leaves it behind.
    package static func isOpen(in stateDirectory: String) -> Bool {
        access(StateDirectory.statusSocket(in: stateDirectory), R_OK | W_OK) == 0
    }

    package func get(_ path: String) async throws -> HTTPResponse {
        try await answer(to: NodeSocket.request("GET", path), within: .seconds(10))
    }

    package func post(_ path: String, _ body: [UInt8]) async throws -> HTTPResponse {
        try await answer(to: NodeSocket.request("POST", path, body))
    }

    /// Makes a request.
    ///
    /// - Parameter target: A path with its query.
    package static func request(_ method: String, _ target: String, _ body: [UInt8] = []) -> HTTPRequest {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        return HTTPRequest(
            method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, body: body,
            isKeptAlive: false)
    }

    private func answer(to request: HTTPRequest, within deadline: Duration? = nil) async throws
        -> HTTPResponse
    {
        do throws(HTTPExchangeError) {
            return try await exchange(request, within: deadline)
        } catch {
            throw failure(error, of: request.method)
        }
    }

    /// Sends a request to the node, and returns its answer.
    ///
    /// - Throws: Also where nobody listens: the node has ended, or has not begun.
    ///
    /// - Parameter deadline: `nil`: as long as a push service takes.
    package func exchange(
        _ request: HTTPRequest, within deadline: Duration? = nil
    ) async throws(HTTPExchangeError) -> HTTPResponse {
        try await HTTPExchange.answer(
            to: request, host: "localhost", by: .direct(.unix(path: path)),
            deadline: deadline ?? PhoneTest.patience + .seconds(30),
            longest: NodeSocket.longest)
    }

    /// Returns the failure of a call that was not answered. One that changes something may be done all the same.
    package func failure(_ error: HTTPExchangeError, of method: String) -> any Error {
        fail(
            "no node answers at \(path): \(error)", status: method != "GET" && error.mayBeTaken ? 3 : 69)
    }

    /// Returns the reason why a call was refused, with the exit status of its kind.
    package static func failure(_ answer: HTTPResponse, refusal: Int32? = nil) -> any Error {
        let json = try? JSON(answer.body)
        let kind = json?["kind"]?.string.flatMap { CallRefusal.Kind(rawValue: $0) }
        var status = kind?.exitStatus ?? (answer.status == 413 ? 65 : 69)
        if let refusal, kind == .absent || kind == .conflict || kind == .unfit { status = refusal }
        let sentence =
            json?["message"]?.string
            ?? "the node answers with status \(answer.status); one of another version has to be restarted first"
        return fail(sentence, status: status)
    }
}
