import Registrations
import Relay

/// ``Registrations/StatusRegistrations`` in the outbox's store.
package struct StoredStatusRegistrations: StatusRegistrations {
    private let file: OutboxStore
    private let limits: StatusRegistration.Limits

    /// Makes the tables if they are not there.
    package init(in file: OutboxStore, limits: StatusRegistration.Limits) async throws(OutboxError) {
        try await file.open(StatusTables.self)
        self.file = file
        self.limits = limits
    }

    package func version(of key: StatusRegistration.Key) async throws(OutboxError) -> UInt64? {
        try await file.read(StatusTables.self) { tables throws(StoreError) in try tables.version(of: key) }
    }

    package func put(
        _ registration: [UInt8]?, of key: StatusRegistration.Key, version: UInt64, at now: Int64
    ) async throws(OutboxError) -> StatusRegistration.PutResult {
        try await file.write(StatusTables.self) { [limits] tables throws(StoreError) in
            try tables.put(registration, of: key, version: version, at: now, limits)
        }
    }

    package func noteUse(of key: StatusRegistration.Key, at now: Int64) async throws(OutboxError) {
        try await file.write(StatusTables.self) { tables throws(StoreError) in
            try tables.noteUse(of: key, at: now)
        }
    }

    package func removeUnused(_ key: StatusRegistration.Key) async throws(OutboxError) {
        try await file.write(StatusTables.self) { tables throws(StoreError) in
            try tables.removeUnused(key)
        }
    }

    package func forget(_ key: StatusRegistration.Key, version: UInt64) async throws(OutboxError) {
        try await file.write(StatusTables.self) { tables throws(StoreError) in
            try tables.forget(key, version: version)
        }
    }

    package func reduce<Value: Sendable>(
        _ owners: [Digest], into initial: Value,
        _ body: @Sendable (inout Value, Int, [UInt8]) -> Bool
    ) async throws(OutboxError) -> Value {
        try await file.read(StatusTables.self) { tables throws(StoreError) in
            var value = initial
            for (index, owner) in owners.enumerated() {
                guard try tables.forEach(of: owner, { body(&value, index, $0) }) else { break }
            }
            return value
        }
    }

    package func look<Value: Sendable>(
        for message: Digest, _ keys: [StatusRegistration.Key],
        _ body: @Sendable ([Int], StatusRegistration.Kept?) -> [Value]
    ) async throws(OutboxError) -> (told: [UInt8]?, found: [Value]) {
        try await file.read(StatusTables.self) { tables throws(StoreError) in
            if let told = try tables.results(of: message) { return (told, []) }
            var found: [Value?] = Array(repeating: nil, count: keys.count)
            for (key, places) in Dictionary(grouping: keys.indices, by: { keys[$0] }) {
                for (place, value) in zip(places, body(places, try tables.kept(of: key))) {
                    found[place] = value
                }
            }
            return (nil, found.compactMap(\.self))
        }
    }

    package func remember(
        _ message: Digest, _ results: [UInt8], at now: Int64, forgettingBefore forgotten: Int64
    ) async throws(OutboxError) {
        try await file.write(StatusTables.self) { [limits] tables throws(StoreError) in
            try tables.remember(message, results, at: now, forgettingBefore: forgotten, most: limits.messages)
        }
    }
}
