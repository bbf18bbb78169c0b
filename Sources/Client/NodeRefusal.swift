import HTTP1
import JSONCoding

/// An answer by which a mailbox, or what stands before its node, refuses a caller.
package struct NodeRefusal: Equatable, Sendable {
    package let status: Int
    /// Whether the answer is in ntfy's form, with a code whose first three digits are the status: a proxy before a node
    /// that is away says no such thing.
    package let isNtfys: Bool

    package init(_ answer: HTTPResponse) {
        status = answer.status
        isNtfys = (try? JSON(answer.body))?["code"]?.integer.map { $0 / 100 == Int64(answer.status) } ?? false
    }

    /// Whether another try will hear the same.
    ///
    /// - Parameter hasConnected: Whether the caller was served there before: then what is not the node's own answer is a
    ///   proxy's, and passes.
    package func isFinal(hasConnected: Bool) -> Bool {
        guard isNtfys else {
            return !hasConnected && (300..<500).contains(status) && ![408, 421, 425, 429].contains(status)
        }
        return [400, 401, 403, 404, 410, 413].contains(status)
    }
}

extension WebSocket.OpeningError {
    /// Whether another try will end as this one did.
    package func isFinal(hasConnected: Bool) -> Bool {
        switch self {
        case .refused(let refusal): refusal.isFinal(hasConnected: hasConnected)
        case .notAWebSocket, .exchange(.notHTTP): !hasConnected
        case .exchange(.dial), .exchange(.connectionEnded), .exchange(.noAnswer), .exchange(.brokenTLS): false
        }
    }
}
