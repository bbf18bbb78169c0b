import JSONCoding

/// The part of a trusted node's answers that a registration needs. The node is called by an address from a pairing code:
/// what comes from there is anybody's.
enum TrustedNodeAnswer {
    struct Session: Equatable {
        let client: String
        let id: String
    }

    /// The result of a request inside the WebSocket.
    enum Call: Equatable {
        case status(Int64)
        /// An event of a subscription, or the answer to another request.
        case other
        case unreadable
    }

    /// Reads the answer to a pairing; `nil`: the body is no such answer.
    static func session(_ body: [UInt8]) -> Session? {
        guard let json = try? JSON(body), let client = word(json["clientId"]),
            let id = word(json["sessionId"])
        else { return nil }
        return Session(client: client, id: id)
    }

    /// Reads the answer to the request with this id.
    static func call(_ text: [UInt8], to request: String) -> Call {
        guard let json = try? JSON(text) else { return .unreadable }
        guard json["requestId"]?.string?.utf8.elementsEqual(request.utf8) == true else { return .other }
        guard let status = json["statusCode"]?.integer else { return .unreadable }
        return .status(status)
    }

    /// Returns a text that goes into a header field as it is, 1 to 256 visible ASCII characters; `nil` for
    /// others.
    private static func word(_ value: JSON?) -> String? {
        guard let text = value?.string, (1...256).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        return text
    }
}
