import Clocks
import Reactor
import Relay

/// The outbox in a store of any engine: durable when ``commit(_:isAwaited:)`` returns.
///
/// It runs on a thread of its own, one commit at a time; whoever calls gathers what comes meanwhile into the next.
package actor OutboxStore: Outbox {
    private let thread: WorkThread
    private var store: StoreStatements?
    /// Changes of doors' tables that wait for the next commit.
    private var writes: [DoorWrite] = []
    /// Transactions that have come to their end.
    private(set) var commits = 0
    private var onNotice: (@Sendable () -> Void)?
    /// The reason why the store was written anew, until a commit has failed with it.
    private var unreported: String?
    /// Whether the store can't be written anew yet: each commit tries again, and nobody else.
    private var isStuck = false
    /// Whether the store's content is not read yet.
    private var isStarting = true

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens the store for this node, or makes it.
    ///
    /// - Throws: ``StoreError``, with what to do when it is damaged.
    package init(_ place: StorePlace) async throws(StoreError) {
        thread = WorkThread(named: "store")
        do {
            store = try OutboxStore.opened(place)
        } catch {
            thread.end()
            throw place.engine.explained(error)
        }
    }

    private static func opened(_ place: StorePlace) throws(StoreError) -> StoreStatements {
        for _ in 1..<triesAtStart {
            do throws(StoreError) { return try StoreStatements(place) } catch  where error.kind == .locked {}
        }
        return try StoreStatements(place)
    }

    /// Opens the store in a file at this path.
    package init(path: String) async throws(StoreError) { try await self.init(.file(path)) }

    package func content() throws(OutboxError) -> OutboxContent { try content(at: EventLoop.unixTime) }

    func content(at now: UnixTime) throws(OutboxError) -> OutboxContent {
        let content = try translated { (store) throws(StoreError) in
            let redating = try store.begin(at: now)
            var content = try store.content()
            content.redating = redating
            return content
        }
        isStarting = false
        return content
    }

    package func claim(_ claim: Claim) throws(OutboxError) -> Claimed {
        try translated { (store) throws(StoreError) in try store.claim(claim) }
    }

    package func commit(_ changes: [OutboxChange]) throws(OutboxError) -> [StoreResult] {
        try commit(changes, isAwaited: true)
    }

    package func commit(_ changes: [OutboxChange], isAwaited: Bool) throws(OutboxError) -> [StoreResult] {
        let writes = writes
        self.writes = []
        commits += 1
        do throws(OutboxError) {
            try lookForPlace()
            let (results, failures) = try translated { (store) throws(StoreError) in
                try store.commit(changes, writes, isAwaited: isAwaited || !writes.isEmpty)
            }
            try lookAgain()
            for (write, failure) in zip(writes, failures) { write.end(failure.map(translation)) }
            return results
        } catch {
            for write in writes { write.end(error) }
            throw error
        }
    }

    package func notifications(_ sequences: [Int64]) throws(OutboxError) -> [Int64: Notification] {
        try translated { (store) throws(StoreError) in try store.notifications(sequences) }
    }

    package func state(of identity: Digest) throws(OutboxError) -> NotificationState? {
        try translated { (store) throws(StoreError) in try store.state(of: identity) }
    }

    // MARK: Tables of doors

    /// Makes a door's tables if they are not there. Before anything is asked of them.
    package func open<Tables: DoorTables>(_ kind: Tables.Type) throws(OutboxError) {
        try translated { (store) throws(StoreError) in try store.open(kind) }
    }

    package func read<Tables: DoorTables, Value: Sendable>(
        _ kind: Tables.Type, _ body: @Sendable (Tables) throws(StoreError) -> Value
    ) throws(OutboxError) -> Value {
        keepPlace()
        return try translated { (store) throws(StoreError) in try body(store.tables(kind)) }
    }

    func look<Value: Sendable>(
        _ body: @Sendable (StoreStatements) throws(StoreError) -> Value
    ) throws(OutboxError) -> Value {
        try translated(body)
    }

    /// Makes changes in a door's tables: with all else that waits, in the outbox's next commit. They are
    /// durable when this returns; when it throws, nothing was changed.
    package func write<Tables: DoorTables, Value: Sendable>(
        _ kind: Tables.Type, _ body: @escaping @Sendable (Tables) throws(StoreError) -> Value
    ) async throws(OutboxError) -> Value {
        try await enqueue { (store) throws(StoreError) in try body(store.tables(kind)) }
    }

    /// Runs a door's write that keeps what leaves the outbox.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (StoreStatements) throws(StoreError) -> Value
    ) async throws(OutboxError) -> Value { try await enqueue(body) }

    private func enqueue<Value: Sendable>(
        _ body: @escaping (StoreStatements) throws(StoreError) -> Value
    ) async throws(OutboxError) -> Value {
        let result: Result<Value, OutboxError> = await withCheckedContinuation { continuation in
            var value: Value?
            writes.append(
                DoorWrite(
                    run: { (store) throws(StoreError) in value = try body(store) },
                    end: { failure in
                        guard let value, failure == nil else {
                            return continuation.resume(returning: .failure(failure ?? .failed("no value")))
                        }
                        continuation.resume(returning: .success(value))
                    }))
            // Those that are on their way to this thread come before it.
            if writes.count == 1 { Task { commitWrites() } }
        }
        return try result.get()
    }

    private func commitWrites() {
        // An outbox commit may have included these writes already. Each write gets its own error.
        if !writes.isEmpty { _ = try? commit([]) }
    }

    /// Takes a place whose password has changed: connections that are made from now on go there.
    package func use(_ place: StorePlace) { store?.connection.engine.use(place.engine) }

    package func divide(_ request: ShareRequest) throws(OutboxError) -> Share {
        try translated { (store) throws(StoreError) in try store.divide(request) }
    }

    /// Calls `onNotice` when another node has put something there for this one, and its word has come.
    package func listen(_ onNotice: @escaping @Sendable () -> Void) {
        self.onNotice = onNotice
        watch()
    }

    /// Watches for words of other nodes, which come between what is asked of the store.
    private func watch() {
        guard let onNotice, let sharing = store?.sharing else { return }
        if sharing.takeNotices() { onNotice() }
        thread.watch(sharing.socket) { [weak self] in Task { await self?.hear() } }
    }

    private func hear() {
        store?.sharing?.hear()
        watch()
    }

    package func close() {
        onNotice = nil
        thread.watch(nil) {}
        keepPlace()
        store = nil
        thread.end()
    }

    // MARK: Its place

    /// Checks before a commit that the store is in its place. If it was gone, writes it there anew, and lets the commit
    /// fail once so that the operator hears of it.
    private func lookForPlace() throws(OutboxError) {
        isStuck = false
        switch store?.lookForPlace() {
        case nil: break
        case .written(let store, let reason): (self.store, unreported) = (store, reason)
        case .unwritten(let reason):
            isStuck = true
            throw .failed(reason)
        }
        guard let reason = unreported else { return }
        unreported = nil
        throw .failed(reason)
    }

    /// Checks after a commit that the store is still in its place. If it was gone, writes it there anew with what the
    /// commit has changed.
    ///
    /// - Throws: ``OutboxError/taken(_:)`` if it could not be written: the node has to start anew.
    private func lookAgain() throws(OutboxError) {
        switch store?.lookForPlace() {
        case nil: break
        case .written(let store, let reason): (self.store, unreported) = (store, reason)
        // It was made where nobody will find it, and is in what was saved: only a start knows what of it is true.
        case .unwritten(let reason): throw .taken(reason)
        }
    }

    /// Keeps the store in its place also when nothing is stored for long: before the node may be stopped, all
    /// is in its place again.
    private func keepPlace() {
        guard !isStuck else { return }
        switch store?.lookForPlace() {
        case nil: break
        case .written(let store, let reason): (self.store, unreported) = (store, reason)
        case .unwritten: isStuck = true
        }
    }

    private func translated<Value>(
        _ body: (StoreStatements) throws(StoreError) -> Value
    ) throws(OutboxError) -> Value {
        defer { watch() }
        var tries = isStarting ? OutboxStore.triesAtStart : 1
        while true {
            do throws(StoreError) {
                guard let store else {
                    throw StoreError(.closed, .step, "the outbox is closed")
                }
                try store.connect()
                return try body(store)
            } catch {
                guard error.kind == .locked else { throw translation(error) }
                let error = store?.sharing?.outwait(error) ?? error
                tries -= 1
                guard tries > 0 else { throw translation(error) }
            }
        }
    }

    /// How often a start tries what waits for a lock of somebody else's: for a minute, with two seconds each time. A node
    /// that runs says so, and tries again by itself.
    private static let triesAtStart = 30

    private func translation(_ error: StoreError) -> OutboxError {
        switch error.kind {
        case .taken: .taken(error.description)
        case .setBack: .setBack(error.description)
        case .full: .full
        case .locked: .locked(error.description)
        case .refused, .damaged, .connectionLost, .collision, .closed, .other: .failed(error.description)
        }
    }
}
