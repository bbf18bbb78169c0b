import Crypto
import Encodings
import Lab
import Reactor
import Wire

/// The books kept outside the node: what was sent, what got a receipt, what the gateways took, what senders were told.
@EventLoop
final class Books {
    /// A push that a gateway took responsibility for.
    struct Push {
        let id: String
        let connection: String
        let isAnswered: Bool
        /// Monotonic nanoseconds, as all times here.
        let time: Int64
        /// The one that it came from, where each of several nodes has gateways of its own.
        var node = ""
    }

    struct Entry {
        let request: MobileNotificationRequest
        let isDead: Bool
        /// Came by a door whose senders don't ask how it ended.
        let isByDoor: Bool
        /// For the app that Apple takes nothing of, or for a push service that is not there: it waits.
        var isHeld: Bool {
            request.app == ChaosWorld.blocked || request.deviceToken == ChaosWorld.browserNowhere
        }
        /// Nobody has heard a receipt, and nobody will ask again: whether it was stored is not known.
        var isGivenUp = false
        /// The database went back after it was sent: nothing is said of it any more.
        var isSetBack = false
        var storedAt: Int64?
        var told: (status: MobileNotificationResponse.Status, at: Int64)?
        /// Delivered was the first that its sender heard.
        var isToldFirst = false
        /// The nodes that may have taken it, where there are several, and when it was sent last.
        var nodes: Set<String> = []
        var triedAt: Int64?
        var pushes: [Push] = []
    }

    private(set) var entries: [String: Entry] = [:]
    /// In the order in which they were sent, by device token.
    private(set) var order: [String: [String]] = [:]
    private(set) var violations: [String] = []
    private(set) var repeated = 0
    /// By the blows that are the reason: what was accepted again under the same ids, and what came before an earlier one.
    private(set) var repeatedBy: [String: Int] = [:]
    private(set) var disorderedBy: [String: Int] = [:]
    private(set) var busy = 0
    /// Of the last receipt and push.
    private(set) var lastStored: Int64 = 0
    private(set) var lastPush: Int64 = 0

    /// A time in which what a node has begun may be begun again.
    private struct Unclear {
        let cause: String
        /// Of one of several nodes.
        let node: String?
        let time: ClosedRange<Int64>
    }

    private var unclear: [Unclear] = []
    /// The times in which an owner had no way to look.
    private var unseeing: [ClosedRange<Int64>] = []
    private var nodeKills: [Int64] = []
    private var breaks: [String: Int64] = [:]

    /// For so long after a push was accepted, the death of the node, the gateway or the connection can have kept the
    /// answer from being read, or its end from being written down.
    private static let unclearWithin: Int64 = 3_000_000_000
    /// A gateway may read so much later what a node had sent before it was killed.
    private static let readLate: Int64 = 1_000_000_000
    /// Of what two nodes have taken the later one may come first if its shard's owner has not seen the earlier one yet. It
    /// looks every 200 ms, and its look takes some turns of the node, the database and the node again. Each may have to wait
    /// for the processor as long as this process had to.
    private var unseenWithin: Int64 { 1_000_000_000 + 10 * lateness }
    static let takenByTwo = "taken by two nodes before the owner had looked"
    /// The longest wait of this process for a processor, in nanoseconds.
    private var lateness: Int64 = 0

    // MARK: What happens

    /// Measures how long this process waits for a processor, until the task ends.
    func watchProcessor() async {
        while !Task.isCancelled {
            let begun = EventLoop.now.nanoseconds
            await pause(.milliseconds(20))
            lateness = max(lateness, EventLoop.now.nanoseconds - begun - 20_000_000)
        }
    }

    func sending(_ request: MobileNotificationRequest, isDead: Bool = false, isByDoor: Bool = false) {
        entries[request.uid] = Entry(request: request, isDead: isDead, isByDoor: isByDoor)
        order[request.deviceToken, default: []].append(request.uid)
    }

    func trying(_ uid: String, at node: String) {
        entries[uid]?.nodes.insert(node)
        entries[uid]?.triedAt = EventLoop.now.nanoseconds
    }

    func nodeKilled() {
        let now = EventLoop.now.nanoseconds
        nodeKills.append(now)
        isUnclear("kill", from: now, until: now)
    }

    func gatewayKilled() {
        let now = EventLoop.now.nanoseconds
        isUnclear("kill of the gateway", from: now, until: now)
    }

    /// - Parameter node: That of several whose way to the gateway it concerns; `nil`: all.
    func isUnclear(_ cause: String, at node: String? = nil, from begun: Int64, until end: Int64) {
        unclear.append(
            Unclear(
                cause: cause, node: node, time: (begun - Books.unclearWithin)...(end + Books.readLate)))
    }

    /// Of what was sent since then nobody knows any more what the store has of it.
    func setBack(since time: Int64) {
        for (uid, entry) in entries where entry.triedAt.map({ $0 >= time }) ?? true {
            entries[uid]?.isSetBack = true
        }
    }

    /// A node's commits and looks hang from then on, and have not failed.
    func seesNothing(from begun: Int64, until end: Int64) {
        unseeing.append(begun...(end + unseenWithin))
    }

    func broke(_ connection: String, at time: Int64) { breaks[connection] = time }
    func violate(_ sentence: String) { violations.append(sentence) }

    /// A door has given its receipt.
    func stored(_ uid: String) {
        lastStored = EventLoop.now.nanoseconds
        entries[uid]?.storedAt = lastStored
    }

    /// Its sender will not repeat it.
    func gaveUp(_ uid: String) { entries[uid]?.isGivenUp = true }

    /// A sender has heard a response.
    func heard(_ response: MobileNotificationResponse) {
        let now = EventLoop.now.nanoseconds
        guard var entry = entries[response.requestUid], let status = response.status else {
            return violate("a response to nothing that was sent, or of no status: \(response.statusNumber)")
        }
        switch status {
        case .busy:
            busy += 1
            return
        case .stored:
            // One of several nodes may have said so before another one told the end, and be heard later.
            if let told = entry.told, entry.triedAt.map({ $0 > told.at }) ?? true, !mayBeForgotten(entry),
                !entry.isSetBack
            {
                violate("\(response.requestUid): stored after its end was told")
            }
            entry.storedAt = entry.storedAt ?? now
            lastStored = now
        case .delivered, .refused, .tokenDead, .expired:
            if let told = entry.told, told.status != status {
                violate("\(response.requestUid): told \(told.status), then \(status)")
            }
            if entry.told == nil {
                entry.told = (status, now)
                entry.isToldFirst = entry.storedAt == nil
            }
            let isRight = entry.isDead ? status == .tokenDead : status == .delivered
            if !isRight { violate("\(response.requestUid): told \(status) \(response.reason)") }
        }
        entries[response.requestUid] = entry
    }

    /// A gateway has taken a push.
    func accepted(_ push: Push, token: String, message: String) {
        lastPush = max(lastPush, push.time)
        let uid = Base64.decode(message).map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard var entry = entries[uid.split(separator: " ").first.map(String.init) ?? ""],
            entry.request.message == message, entry.request.deviceToken == token
        else { return violate("a push that nobody sent") }
        entry.pushes.append(push)
        entries[entry.request.uid] = entry
    }

    // MARK: What must be true

    /// Stored, and neither delivered nor known to be dead.
    var open: [Entry] {
        entries.values.filter {
            $0.storedAt != nil && $0.told == nil && $0.pushes.isEmpty && !$0.isDead && !$0.isHeld
                && !$0.isSetBack
        }
    }

    /// At the end, when every sender was told how all ended.
    func check() -> (lost: Int, twice: Int, outOfOrder: Int) {
        var lost = 0
        var twice = 0
        repeated = 0
        for entry in entries.values where !entry.isSetBack {
            let uid = entry.request.uid
            guard !entry.isHeld else {
                if entry.storedAt == nil { violate("\(uid): never stored") }
                if entry.told != nil || !entry.pushes.isEmpty {
                    violate("\(uid): ended, and nothing takes it")
                }
                continue
            }
            if entry.pushes.isEmpty, !entry.isDead, !entry.isGivenUp {
                lost += 1
                violate("\(uid): \(entry.storedAt == nil ? "never stored" : "stored, and lost")")
            }
            if entry.isDead, !entry.pushes.isEmpty { violate("\(uid): accepted for a dead device") }
            let pushes = entry.pushes.sorted { $0.time < $1.time }
            repeated += max(0, pushes.count - 1)
            for (first, second) in zip(pushes, pushes.dropFirst()) {
                let cause = reason(first) ?? (mayBeForgotten(entry) ? "" : lateReason(second))
                if first.id == second.id, let cause {
                    repeatedBy[cause, default: 0] += 1
                    continue
                }
                twice += 1
                violate(
                    "\(uid): accepted twice, \((second.time - first.time).seconds) s apart: \(first), \(second)"
                )
            }
            if let told = entry.told, let last = pushes.last, last.time > told.at, !mayBeForgotten(entry),
                lateReason(last) == nil
            {
                twice += 1
                violate("\(uid): accepted \((last.time - told.at).seconds) s after its end was told")
            }
        }
        return (lost, twice, outOfOrder())
    }

    /// What was delivered before it was stored has its identity written a little later: a node that is killed before that
    /// takes a repetition for the first.
    private func mayBeForgotten(_ entry: Entry) -> Bool {
        guard let told = entry.told, entry.isToldFirst, told.status == .delivered else { return false }
        return nodeKills.contains(
            where: ((told.at - Books.readLate)...(told.at + Books.unclearWithin)).contains)
    }

    /// Why its node may have begun it again, or another one; `nil`: there is no reason.
    private func reason(_ push: Push) -> String? {
        let window = (push.time - Books.readLate)...(push.time + Books.unclearWithin)
        if !push.isAnswered || breaks[push.connection].map(window.contains) == true { return "broken" }
        return unclear.first {
            ($0.node ?? push.node) == push.node && $0.time.contains(push.time)
        }?.cause
    }

    /// Why a node may have gone on with what another one had then.
    private func lateReason(_ push: Push) -> String? {
        unclear.first { $0.node != nil && $0.node == push.node && $0.time.contains(push.time) }?.cause
    }

    /// Notifications of one device that were first accepted before an earlier one.
    private func outOfOrder() -> Int {
        var count = 0
        for uids in order.values {
            let found = uids.compactMap { entries[$0] }.filter { !$0.pushes.isEmpty && !$0.isSetBack }
            for (first, second) in zip(found, found.dropFirst()) {
                guard let one = first.firstPush, let other = second.firstPush, other.time < one.time else {
                    continue
                }
                if let cause = unseen(first, before: other, of: second) ?? lateReason(one)
                    ?? lateReason(other)
                {
                    disorderedBy[cause, default: 0] += 1
                    continue
                }
                count += 1
                let stored = first.storedAt ?? 0
                violate(
                    "a device got \(second.request.uid) \((one.time - other.time).seconds) s before \(first.request.uid), which was stored \((other.time - stored).seconds) s before that, \(((second.storedAt ?? 0) - stored).seconds) s before the other; tried at \(first.nodes.sorted()), \(second.nodes.sorted()), sent by \(one.node), \(other.node) at \(one.time), \(other.time)"
                )
            }
        }
        return count
    }

    private func unseen(_ first: Entry, before push: Push, of second: Entry) -> String? {
        guard first.nodes.union(second.nodes).count > 1, let stored = first.storedAt,
            push.time - stored < unseenWithin
                || unseeing.contains(where: { $0.contains(push.time) && $0.contains(stored) })
        else { return nil }
        return Books.takenByTwo
    }
}

extension Books.Entry {
    fileprivate var firstPush: Books.Push? { pushes.min { $0.time < $1.time } }
}
