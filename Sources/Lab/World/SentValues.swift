import Client
import HTTP1
import JSONCoding
import Reactor
import Wire

/// Every device token, uid and message that this process has sent to a node, or has seen a node deliver: none of them may
/// ever stand in a node's log.
@EventLoop
package final class SentValues {
    package static let shared = SentValues()

    /// The values by their first eight bytes.
    private var values: [UInt64: Set<String>] = [:]

    private var count = 0

    /// The most values: of a run that sends more the first ones are looked for.
    private static let most = 500_000
    /// Shorter ones could stand in a line by chance.
    private static let shortest = 8

    /// Adds every request of this process' clients from now on.
    func watchClients() {
        BisqPeer.onPost = { [unowned self] in add($0) }
        HTTPExchange.onAsk = { [unowned self] in add($0) }
    }

    package func add(_ value: String) {
        guard value.utf8.count >= SentValues.shortest, count < SentValues.most else { return }
        let start = SentValues.start(of: Array(value.utf8)[...])
        if values[start, default: []].insert(value).inserted { count += 1 }
    }

    func add(_ request: MobileNotificationRequest) {
        for value in [request.uid, request.deviceToken, request.message] { add(value) }
    }

    /// Adds the values of an HTTP client's request: the words of its address but the first two, and its texts.
    func add(_ request: HTTPRequest) {
        for part in request.path.split(separator: "/").dropFirst(3) { add(String(part)) }
        if let query = request.query {
            for part in query.split(separator: "&") { add(String(part.drop { $0 != "=" }.dropFirst())) }
        }
        if let body = try? JSON(request.body) { add(body) }
    }

    func add(_ json: JSON) {
        switch json {
        case .string(let text): add(text)
        case .array(let elements): for element in elements { add(element) }
        case .object(let members): for (_, value) in members { add(value) }
        case .null, .bool, .integer, .number: break
        }
    }

    /// Returns the lines that hold one of the values.
    package func lines(in log: [String]) -> [String] {
        log.filter { line in
            let bytes = Array(line.utf8)
            guard bytes.count >= SentValues.shortest else { return false }
            return (0...bytes.count - SentValues.shortest).contains { offset in
                values[SentValues.start(of: bytes[offset...])]?.contains { value in
                    bytes[offset...].starts(with: value.utf8)
                } ?? false
            }
        }
    }

    private static func start(of bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.prefix(shortest).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
