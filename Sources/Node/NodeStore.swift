import Dispatching
import Doors
import Gateways
import Logging
import Persistence
import Reactor
import Relay
import Tor

/// The outbox, and what takes notifications into it and delivers them.
@EventLoop
package struct NodeStore {
    package let outbox: OutboxStore
    package let dispatcher: Dispatcher
    package let phoneBook: StoreWatch<PhoneBook>
    package let log: Logger
    /// Whether a node was here before, and its store was gone or empty at this start.
    let wasMadeAnew: Bool

    /// The part of the 9.5 seconds of a stop that deliveries may take; tor and the management endpoint have the rest.
    private static let longestDelivery: Duration = .seconds(8)
    /// The part of a restart in place that deliveries may take. Clients wait, and deliveries had their time before.
    private static let longestDeliveryInPlace: Duration = .seconds(3)

    /// Opens the store and takes over what waits there.
    ///
    /// - Parameter onPhones: Called with every change of the phone book.
    init(
        _ settings: Settings, state: borrowing StateDirectory, gateways: [GatewayAssembly.AppGateways],
        circuits: Circuits, presence: OnionPresence, in parts: OpenParts, log: Logger,
        onPhones: @escaping @EventLoop () -> Void, onTaken: @escaping @EventLoop (String) -> Void
    ) async throws(NodeError) {
        let place = try settings.store()
        wasMadeAnew = place.file != nil && state.hasLostOutbox
        if let path = place.file, wasMadeAnew {
            log.warning("outbox.made_anew", metadata: ["path": "\(path)"])
        }
        let key = try state.digestKey()
        let outbox: OutboxStore
        do {
            outbox = try await OutboxStore(place)
        } catch {
            throw .unavailable("\(error)")
        }
        let pipeline = settings.pipeline(isShared: place.isShared)
        var surroundings = Dispatcher.Surroundings()
        surroundings.makeGateway = { lane in gateways.first { $0.app == lane.app }?.open(lane.host) }
        surroundings.onRefusal = { circuits.refused($0) }
        surroundings.onStoreTaken = onTaken
        surroundings.torTime = { [weak presence] in presence?.torTime }
        let dispatcher = Dispatcher(
            pipeline: pipeline, outbox: outbox, digester: SubmissionDigester(key: key), log: log,
            in: surroundings)
        let remembered = state.pushServers
        dispatcher.goOn(
            withOrigins: await RememberedOrigins.read(remembered, apps: settings.apps.map(\.name)))
        let ringsFile = await RingsFile.open(
            at: state.rings, sealedUnder: key, for: settings.keptRings, of: dispatcher,
            isOfThisStore: !wasMadeAnew, log: log)
        // An answer that comes too late to be written down makes an Android phone ring twice: all the time that is left.
        try await parts.add(.store) {
            let longest =
                Handover.shared.isInPlace ? NodeStore.longestDeliveryInPlace : NodeStore.longestDelivery
            await dispatcher.stop(deadline: max(longest - $0, .seconds(1)))
            let areKept = await ringsFile?.stop() ?? false
            if Handover.shared.isInPlace, !areKept { dispatcher.handOnRings() }
            await RememberedOrigins.write(dispatcher.originsToRemember, to: remembered)
        }
        dispatcher.takeOverRings()
        let lanes = gateways.flatMap(\.lanes)
        for lane in lanes { dispatcher.add(lane.gateway, for: lane.id) }
        await outbox.listen { Task { @EventLoop in dispatcher.arrivalsNotified() } }
        do {
            let phoneBook = try await StoreWatch(in: outbox, log: log) {
                dispatcher.use($0)
                onPhones()
            }
            self.phoneBook = phoneBook
            try await parts.add(.watches) { _ in phoneBook.stop() }
            let waiting = try await dispatcher.start()
            if waiting > 0 { log.notice("outbox.restored", metadata: ["waiting": "\(waiting)"]) }
        } catch {
            throw error as? NodeError ?? .unavailable("the outbox can't be read: \(error)")
        }
        ringsFile?.start()
        for lane in lanes { lane.gateway.start() }
        (self.outbox, self.dispatcher, self.log) = (outbox, dispatcher, log)
    }
}

package extension NodeStore {
    /// Waits for requests at gateways while the doors are open, so that at a restart in place no client waits for a gateway
    /// that hangs.
    func waitForGateways() async { await dispatcher.waitForGateways(within: NodeStore.longestDelivery) }
}

extension Settings {
    fileprivate func pipeline(isShared: Bool) -> Pipeline {
        let validator = Validator(
            apps: GatewayAssembly.apps(of: self), defaultIOS: defaultIOS, defaultAndroid: defaultAndroid,
            defaultLifetime: lifetime)
        var memory = Pipeline.Memory()
        memory.identities = identityMemory
        memory.deadTokens = deadTokenMemory
        return Pipeline(
            validator: validator, limits: limits, memory: memory, writeBehind: writeBehind, isShared: isShared
        )
    }
}
