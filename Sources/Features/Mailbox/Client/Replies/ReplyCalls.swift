import Client
import Encodings
import HTTP1
import JSONCoding
import Wire

/// The calls of a phone and of Bisq's agent at a node's mailboxes, on the way back: `/v1/replies/<channel>`.
package struct ReplyCalls: Sendable {
    private let path: String
    private let address: String

    /// Bytes of an answer: 16 replies in Base64.
    private static let longestAnswer = 65_536

    /// Makes the calls of a channel. The token's device token is the mailbox's address.
    package init(_ channel: ReplyChannel, of token: PairingToken) {
        path = "/v1/replies/\(channel.id)"
        address = token.deviceToken
    }

    package func post(_ sealed: [UInt8]) -> HTTPRequest {
        var request = request("POST")
        request.fields.append("Content-Type", "application/octet-stream")
        request.body = sealed
        return request
    }

    /// Returns the request that fetches replies.
    ///
    /// - Parameters:
    ///   - acknowledged: The number of the last reply that was taken; 0: none.
    ///   - seconds: How long the node may wait for one to come.
    package func fetch(acknowledging acknowledged: Int64, waiting seconds: Int) -> HTTPRequest {
        var request = request("GET")
        request.query = "acknowledge=\(acknowledged)&wait=\(seconds)"
        return request
    }

    private func request(_ method: String) -> HTTPRequest {
        var request = HTTPRequest(method: method, path: path, isKeptAlive: false)
        request.fields.append("Authorization", "Bearer \(address)")
        return request
    }

    /// Returns the replies that a fetch has brought; `nil`: something else answers there.
    package static func replies(in answer: HTTPResponse) -> [(number: Int64, sealed: [UInt8])]? {
        guard answer.status == 200, answer.body.count <= longestAnswer,
            let items = (try? JSON(answer.body))?["replies"]?.array
        else { return nil }
        var replies: [(number: Int64, sealed: [UInt8])] = []
        for item in items {
            guard let number = item["number"]?.integer, number > replies.last?.number ?? 0,
                let sealed = item["sealed"]?.string.flatMap({ Base64.decode($0) })
            else { return nil }
            replies.append((number, sealed))
        }
        return replies
    }
}
