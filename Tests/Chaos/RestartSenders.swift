import Client
import Encodings
import Lab
import Reactor
import Wire

/// Senders of notifications to a node over Tor, and the book of how each fared.
@EventLoop
final class RestartSenders {
    struct Send {
        let uid: String
        let device: String
        let began: ContinuousClock.Instant
        var ended: ContinuousClock.Instant?
        /// Why it has no receipt; `nil`: it has one, or waits for it.
        var fault: String?
        var isToMailbox = false

        var wait: Duration { (ended ?? .now) - began }
    }

    private(set) var sends: [Send] = []
    /// Uids of the peer that stays, and what it was told in the end.
    private(set) var asked: [String: MobileNotificationResponse.Status?] = [:]
    private(set) var reconnects = 0
    private let socks: Endpoint
    private let address: String
    private let mailbox: PairingToken
    private var isStopped = false
    private var running = 0
    private var tasks: [Task<Void, Never>] = []

    /// Bisq's own time limit for a connection over Tor.
    private static let patience: Duration = .seconds(120)
    private static let toMailboxEvery = 5

    init(socks: Endpoint, address: String, mailbox: PairingToken) {
        (self.socks, self.address, self.mailbox) = (socks, address, mailbox)
    }

    func start() {
        tasks = [Task { await sendOneEachSecond() }, Task { await stayConnected() }]
    }

    /// Returns when all that was begun has ended.
    func stop() async {
        isStopped = true
        for task in tasks { await task.value }
        while running > 0 { await pause(.milliseconds(50)) }
    }

    /// Returns when a send that began after this moment has its receipt.
    ///
    /// - Returns: The time of the receipt; `nil`: there was none in time.
    func served(after moment: ContinuousClock.Instant, within limit: Duration) async
        -> ContinuousClock.Instant?
    {
        while ContinuousClock.now < moment + limit {
            let first = sends.filter { $0.began >= moment && $0.fault == nil }.compactMap(\.ended).min()
            if let first { return first }
            await pause(.milliseconds(20))
        }
        return nil
    }

    private static func device(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    // MARK: As Bisq 1

    private func sendOneEachSecond() async {
        while !isStopped {
            let number = sends.count + 1
            Task { await send(number) }
            await pause(.seconds(1))
        }
    }

    private func send(_ number: Int) async {
        let isToMailbox = number.isMultiple(of: RestartSenders.toMailboxEvery)
        let uid = "send-\(number)"
        var send = Send(uid: uid, device: RestartSenders.device(number), began: .now)
        send.isToMailbox = isToMailbox
        let index = sends.count
        sends.append(send)
        running += 1
        defer { running -= 1 }
        do {
            let request = try isToMailbox ? toMailbox(uid) : toDevice(uid, send.device)
            // Once, and by whatever circuit tor has.
            let found = try await Stream.connect(
                through: SOCKS5Route(proxy: socks, host: address, port: 9999),
                deadline: RestartSenders.patience)
            let peer = BisqPeer(found.stream, unread: found.unread, network: .mainnet)
            defer { peer.close() }
            let response = try await peer.send(request, deadline: RestartSenders.patience)
            if ![.stored, .delivered].contains(response.status) { sends[index].fault = "\(response)" }
        } catch {
            sends[index].fault = "\(error)"
        }
        sends[index].ended = .now
    }

    private func toDevice(_ uid: String, _ device: String, asks: Bool = false) -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        request.uid = uid
        request.platform = .ios
        request.deviceToken = device
        request.message = Base64.encode(
            Array("\(uid) and as many bytes as a notification of Bisq's has".utf8))
        request.isUrgent = true
        request.awaitsOutcome = asks
        return request
    }

    /// The title is the uid, in the order of sending.
    private func toMailbox(_ uid: String) throws -> MobileNotificationRequest {
        try BisqSender(to: mailbox).request(
            for: PhoneText(sentDate: 1, title: uid, message: "a", kind: .trade))
    }

    // MARK: As a peer that stays

    /// Asks for the outcome of each, and after a connection that broke asks for it again under the same uid.
    private func stayConnected() async {
        var peer: BisqPeer?
        var number = 0
        while !isStopped {
            number += 1
            let uid = "asked-\(number)"
            asked[uid] = .some(nil)
            let request = toDevice(uid, RestartSenders.device(1 << 24 + number), asks: true)
            let end = ContinuousClock.now + RestartSenders.patience
            while asked[uid] == .some(nil), ContinuousClock.now < end {
                do {
                    let line: BisqPeer
                    if let peer {
                        line = peer
                    } else {
                        line = try await BisqPeer.dial(
                            .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(20))
                        reconnects += 1
                    }
                    peer = line
                    let first = try await line.send(request, deadline: .seconds(20))
                    let last =
                        first.status == .stored
                        ? try await line.nextResponse(to: uid, deadline: .seconds(20)) : first
                    asked[uid] = last.status
                } catch {
                    peer?.close()
                    peer = nil
                    await pause(.milliseconds(100))
                }
            }
            await pause(.milliseconds(700))
        }
        peer?.close()
    }

    /// Devices of the peer that stays, by uid.
    func device(asked uid: String) -> String {
        RestartSenders.device(1 << 24 + (Int(uid.dropFirst("asked-".count)) ?? 0))
    }
}
