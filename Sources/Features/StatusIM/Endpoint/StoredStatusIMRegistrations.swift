import Persistence
import Relay

/// The registrations with the door for Status' clients, and the messages that were handled, in the store.
/// Each call is a transaction.
///
/// Rows are found by keyed digests. Of a phone that has unregistered, or whose device token is dead, nothing is left
/// but those and the version.
package struct StoredStatusIMRegistrations: Sendable {
    private let file: OutboxStore
    private let limits: StatusIMRegistration.Limits

    /// Makes the tables if they are not there.
    package init(in file: OutboxStore, limits: StatusIMRegistration.Limits) async throws(OutboxError) {
        try await file.open(StatusIMTables.self)
        self.file = file
        self.limits = limits
    }

    /// Returns the version of a registration, also of one that is not registered any more.
    package func version(of key: StatusIMRegistration.Key) async throws(OutboxError) -> UInt64? {
        try await file.read(StatusIMTables.self) { tables throws(StoreError) in try tables.version(of: key) }
    }

    /// Puts a registration in the place of an older one. Durable when it returns.
    ///
    /// - Parameters:
    ///   - registration: `nil`: unregistered; where nothing is known nothing is kept.
    ///   - now: milliseconds since 1970.
    package func put(
        _ registration: [UInt8]?, of key: StatusIMRegistration.Key, version: UInt64, at now: Int64
    ) async throws(OutboxError) -> StatusIMRegistration.PutResult {
        try await put(registration, of: key, version: version, at: now, insteadOf: []).result
    }

    /// Puts a registration in the place of an older one, and of others if that makes enough room for it.
    ///
    /// - Parameter others: Phones that may give way, the first of them first; none goes that has been pushed to.
    /// - Returns: With the result those of `others` that may give way to the next.
    package func put(
        _ registration: [UInt8]?, of key: StatusIMRegistration.Key, version: UInt64, at now: Int64,
        insteadOf others: [StatusIMRegistration.Key]
    ) async throws(OutboxError) -> (
        result: StatusIMRegistration.PutResult, left: [StatusIMRegistration.Key]
    ) {
        try await file.write(StatusIMTables.self) { [limits] tables throws(StoreError) in
            try tables.put(registration, of: key, version: version, at: now, insteadOf: others, limits)
        }
    }

    /// Remembers that a push was delivered.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func noteUse(of key: StatusIMRegistration.Key, at now: Int64) async throws(OutboxError) {
        try await file.write(StatusIMTables.self) { tables throws(StoreError) in
            try tables.noteUse(of: key, at: now)
        }
    }

    /// Unregisters what still has this version.
    package func forget(_ key: StatusIMRegistration.Key, version: UInt64) async throws(OutboxError) {
        try await file.write(StatusIMTables.self) { tables throws(StoreError) in
            try tables.forget(key, version: version)
        }
    }

    /// Goes through the registrations of these clients.
    ///
    /// - Parameter body: takes the client's place in `owners` and the registration, on the store's thread; `false`
    ///   ends it.
    package func reduce<Value: Sendable>(
        _ owners: [Digest], into initial: Value,
        _ body: @Sendable (inout Value, Int, [UInt8]) -> Bool
    ) async throws(OutboxError) -> Value {
        try await file.read(StatusIMTables.self) { tables throws(StoreError) in
            var value = initial
            for (index, owner) in owners.enumerated() {
                guard try tables.forEach(of: owner, { body(&value, index, $0) }) else { break }
            }
            return value
        }
    }

    /// Returns the answer that a handled message got; else what `body` makes of these installations' registrations.
    ///
    /// - Parameter body: on the store's thread, once for each installation; takes its places in `keys`, and `nil` for
    ///   what is not registered; returns as many values.
    package func look<Value: Sendable>(
        for message: Digest, _ keys: [StatusIMRegistration.Key],
        _ body: @Sendable ([Int], StatusIMRegistration.Phone?) -> [Value]
    ) async throws(OutboxError) -> (told: [UInt8]?, found: [Value]) {
        try await file.read(StatusIMTables.self) { tables throws(StoreError) in
            if let told = try tables.results(of: message) { return (told, []) }
            var found: [Value?] = Array(repeating: nil, count: keys.count)
            for (key, places) in Dictionary(grouping: keys.indices, by: { keys[$0] }) {
                for (place, value) in zip(places, body(places, try tables.phone(of: key))) {
                    found[place] = value
                }
            }
            return (nil, found.compactMap(\.self))
        }
    }

    /// Remembers the results of a message, and forgets those that were handled before a time. Durable when it returns.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970, as `forgotten`.
    package func remember(
        _ message: Digest, _ results: [UInt8], at now: Int64, forgettingBefore forgotten: Int64
    ) async throws(OutboxError) {
        try await file.write(StatusIMTables.self) { [limits] tables throws(StoreError) in
            try tables.remember(message, results, at: now, forgettingBefore: forgotten, most: limits.messages)
        }
    }
}
