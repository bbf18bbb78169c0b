import ArgumentParser
import Calls
import Client
import Encodings
import HTTP1
import JSONCoding
import Node
import Processes
import Terminal

/// The calls of `/api/v1`, as the console's pages have them.
extension ConfigOption {
    /// Carries out a call by the running node. If none runs, or none answers yet, the store and the files do, where the call
    /// can be done without a node.
    ///
    /// - Parameters:
    ///   - path: Below `/api/v1/`, with its query; what stands for `{}` is percent-encoded.
    ///   - refusal: The exit status for what is there already, is not there or can't be used, in place of 1 and 65.
    ///   - fine: The code of a refusal that is none here: what is wished is so already.
    /// - Returns: What it answers; `nil`: nothing.
    /// - Throws: An exit status, with the node's own sentence: 1 what is there forbids it, 3 whether it is done is not known, 64
    ///   or 65 it can't be used, 69 something is missing, 75 not now, 77 it is another user's, 78 the settings have no place
    ///   for it.
    @discardableResult
    package func call(
        _ method: String, _ path: String, _ body: JSON? = nil, refusal: Int32? = nil, fine: String? = nil
    ) async throws -> JSON? {
        var request = NodeSocket.request(method, "/api/v1/\(path)")
        if let body { request.body.append(json: body) }
        let settings = try settings()
        var answer: HTTPResponse?
        if NodeSocket.isOpen(in: settings.stateDirectory) {
            let node = try NodeSocket(in: settings.stateDirectory)
            do throws(HTTPExchangeError) {
                answer = try await node.exchange(request)
            } catch {
                guard case .dial = error else { throw node.failure(error, of: method) }
            }
        }
        guard let answer = answer ?? NodeFiles(settings).answer(request) else {
            let node = try NodeSocket(in: settings.stateDirectory)
            throw fail("no node answers at \(node.path)", status: 69)
        }
        if let fine, (try? JSON(answer.body))?["code"]?.string == fine { return nil }
        return try NodeSocket.value(of: answer, refusal: refusal)
    }
}

extension NodeSocket {
    /// Returns the value of a good answer, and throws for any other.
    ///
    /// - Parameter refusal: The exit status in place of 1 and 65.
    package static func value(of answer: HTTPResponse, refusal: Int32? = nil) throws -> JSON? {
        guard !(200..<300).contains(answer.status) else {
            return try? JSON(answer.body, mostValues: NodeSocket.mostValues)
        }
        throw failure(answer, refusal: refusal)
    }

    /// The most values of an answer; the phone book has seven thousand.
    private static let mostValues = 100_000
}
