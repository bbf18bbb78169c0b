import Logging
import Reactor
import Tor

/// Takes over who is invited to the node, without a restart.
///
/// Invitations that can't be read are logged once, and those of before stay in force: a fault opens no door.
@EventLoop
package final class InvitationWatch {
    private let invitations: Invitations
    private let log: Logger
    private let place: WatchedService
    private let onChange: @EventLoop (Set<ClientKey>?) -> Void
    private var clients: Set<ClientKey>?
    private var stamp: CredentialFiles.Stamp?
    private var gathering = Gathering.nothing
    /// Why the directory can't be read, so that whoever was let in before still is; `nil`: it can.
    package private(set) var fault: String?
    private let timer = Timer()
    private var isStopped = false

    /// The service that the clients are let in to.
    package enum WatchedService {
        case peers
        /// The console's onion address.
        case console
    }

    /// Commands that follow each other are one change: for those who stay each one may cost their connections.
    private enum Gathering {
        case nothing
        /// Looks that found a change, one after the other.
        case changes(Int)
    }

    private static let interval: Duration = .seconds(1)
    /// The most looks in a row for which changes are gathered. The next look takes them over in any case, a
    /// look without a change at once.
    private static let longestGathering = 4

    /// Makes a watch of the invitations; ``start()`` begins it.
    ///
    /// - Parameters:
    ///   - clients: as they were read at the start.
    ///   - place: the service that they are let in to.
    ///   - onChange: called with those invited from then on; `nil`: everybody.
    package init(
        _ invitations: Invitations, clients: Set<ClientKey>?, log: Logger,
        to place: WatchedService = .peers,
        onChange: @escaping @EventLoop (Set<ClientKey>?) -> Void
    ) {
        self.invitations = invitations
        self.clients = clients
        self.log = log
        self.place = place
        self.onChange = onChange
        timer.action = { [unowned self] in
            Task { [weak self] in await self?.lookAgain() }
        }
    }

    /// How many are invited; `nil`: everybody may call.
    var count: Int? { clients?.count }

    package func start() { timer.start(after: InvitationWatch.interval) }

    package func stop() {
        isStopped = true
        timer.stop()
    }

    private func lookAgain() async {
        await look()
        if !isStopped { timer.start(after: InvitationWatch.interval) }
    }

    /// Looks whether the directory has changed, as each invitation and each revocation changes it. Another
    /// thread looks: a disk that hangs holds up nothing else.
    func look() async {
        let present = await InvitationWatch.stamp(of: invitations)
        let isChanged = present != stamp
        stamp = present
        switch gathering {
        case .nothing:
            if isChanged { gathering = .changes(1) }
        case .changes(let count) where isChanged && count < Self.longestGathering:
            gathering = .changes(count + 1)
        case .changes:
            // Another change may have followed within the same tick of the file system's clock.
            gathering = isChanged ? .changes(1) : .nothing
            // What could not be read is looked at again, whether or not something changes.
            if await !lookNow() { gathering = .changes(Self.longestGathering) }
        }
    }

    /// Takes over what is there now.
    ///
    /// - Returns: `false`: it can't be read.
    @discardableResult
    package func lookNow() async -> Bool {
        let read = await InvitationWatch.load(invitations)
        guard !isStopped else { return true }
        do throws(InvitationError) {
            let keys = try read.get()
            fault = nil
            let present = keys.map { Set($0.values) }
            guard present != clients else { return true }
            clients = present
            let facts: Logger.Metadata = ["count": present.map { "\($0.count)" } ?? "everybody"]
            switch place {
            case .peers: log.notice("peers.authorized", metadata: facts)
            case .console: log.notice("console.authorized", metadata: facts)
            }
            onChange(present)
            return true
        } catch {
            guard fault != error.description else { return false }
            fault = error.description
            let facts: Logger.Metadata = [
                "reason": "\(error)", "advice": "the previous list of authorized clients stays in use",
            ]
            switch place {
            case .peers: log.error("peers.read_failed", metadata: facts)
            case .console: log.error("console.read_failed", metadata: facts)
            }
            return false
        }
    }

    @FileThread
    private static func stamp(of invitations: Invitations) -> CredentialFiles.Stamp? {
        CredentialFiles.Stamp(invitations.path)
    }

    /// Reads the invitations off the loop.
    @FileThread
    static func load(_ invitations: Invitations) -> Result<[String: ClientKey]?, InvitationError> {
        Result { () throws(InvitationError) in try invitations.load() }
    }
}
