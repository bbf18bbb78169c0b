import Client
import Encodings
import Lab
import Reactor
import Wire

/// Sends to one device, one notification after the other, each until a node has given a receipt: again under the same uid,
/// at another node, where one gives none.
@EventLoop
final class ClusterSender {
    enum Form: CaseIterable { case frames, post }

    /// What it sent first after the last blow.
    private(set) var firstSinceBlow: String?

    private let name: String
    private let platform: Platform
    private let token: String
    private let form: Form
    /// Goes to another node with each notification, and not only where it has to.
    private let roams: Bool
    private let nodes: [ClusterNode]
    private let lines: [PeerLine]
    private let books: Books
    private var random: SplitMix
    private var node: Int
    private var count = 0
    private var isAfterBlow = false

    private static let patience: Duration = .seconds(3)
    private static let longest: Duration = .seconds(180)

    /// - Parameter lines: To each node.
    init(
        _ number: Int, _ form: Form, roams: Bool, to nodes: [ClusterNode], by lines: [PeerLine],
        _ books: Books,
        seed: UInt64
    ) {
        random = SplitMix(seed: seed)
        name = "\(form)\(number)"
        let platform: Platform = number.isMultiple(of: 2) ? .ios : .android
        self.platform = platform
        let digits = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
        let token = String(String(repeating: digits + "0123456789abcdef", count: 4).prefix(64))
        self.token = platform == .android ? "lab:\(token)" : token
        self.form = form
        self.roams = roams
        self.nodes = nodes
        self.lines = lines
        self.books = books
        node = number % nodes.count
    }

    func blown() {
        isAfterBlow = true
        firstSinceBlow = nil
    }

    func send(until isOver: @EventLoop () -> Bool) async throws {
        while !isOver() {
            try await sendOne()
            await pause(.milliseconds(Int.random(in: 50...400, using: &random)))
        }
    }

    private func sendOne() async throws {
        let request = next()
        let end = ContinuousClock.now + ClusterSender.longest
        if roams { node = Int.random(in: nodes.indices, using: &random) }
        while true {
            guard ContinuousClock.now < end else { throw ChaosError("no receipt for \(request.uid) in time") }
            if await isTaken(request, at: node) { break }
            node = (node + 1) % nodes.count
            await pause(.milliseconds(50))
        }
        // Whether the answer was lost on its way, the sender may ask again, and anywhere.
        guard Int.random(in: 0..<8, using: &random) == 0 else { return }
        _ = await isTaken(request, at: (node + 1) % nodes.count)
    }

    private func next() -> MobileNotificationRequest {
        count += 1
        var request = MobileNotificationRequest()
        request.uid = "\(name)-\(count)"
        request.platform = platform
        request.deviceToken = token
        request.message = Sender.message(saying: request.uid)
        request.isUrgent = true
        request.awaitsOutcome = Bool.random(using: &random)
        books.sending(request, isByDoor: form == .post)
        if isAfterBlow {
            firstSinceBlow = request.uid
            isAfterBlow = false
        }
        return request
    }

    private func isTaken(_ request: MobileNotificationRequest, at index: Int) async -> Bool {
        books.trying(request.uid, at: nodes[index].name)
        switch form {
        case .frames:
            switch await lines[index].attempt(request, deadline: ClusterSender.patience) {
            case .receipt: return true
            case .later, .nobody, .noAnswer: return false
            }
        case .post:
            let form = try? ConnectPhone(
                platform: platform, deviceToken: request.deviceToken,
                key: [UInt8](repeating: 0, count: ConnectPhone.keyLength))
            guard
                let form,
                let answer = try? await HTTPExchange.answer(
                    to: form.request(for: request.message), host: "node", by: nodes[index].posts,
                    deadline: ClusterSender.patience)
            else { return false }
            guard answer.status == 200 else {
                if ![429, 502, 503].contains(answer.status) {
                    books.violate("\(request.uid): answered \(answer.status)")
                }
                return false
            }
            books.stored(request.uid)
            return true
        }
    }

    /// How each of these ended, asked at any node.
    func ask(
        _ requests: [MobileNotificationRequest], by lines: [PeerLine], until end: ContinuousClock.Instant
    )
        async throws
    {
        for request in requests {
            var request = request
            request.awaitsOutcome = true
            try await lines[Int.random(in: lines.indices, using: &random)].send(request, until: end)
        }
    }
}
