import Encodings
import Persistence
import PostgreSQL

extension StoreError {
    init(_ error: PostgreSQLError, _ operation: Operation) {
        self.init(Kind(error), operation, error)
    }

    /// Makes the failure to get a lock, with who holds it.
    init(lockedBy holder: String) {
        self.init(
            .locked, .step,
            PostgreSQLError(
                message: """
                    waits for a lock of the database: \(holder)
                    """))
    }

    init(setBack reason: String) { self.init(.setBack, .step, PostgreSQLError(message: reason)) }

    private init(_ kind: Kind, _ operation: Operation, _ error: PostgreSQLError) {
        self.init(
            kind, operation, error.message, code: nil,
            description: "outbox: \(error)\(DatabaseAdvice.sentence(for: error))")
    }
}

extension StoreError.Kind {
    fileprivate init(_ error: PostgreSQLError) {
        switch error.state {
        case _ where error == DatabaseSchema.ousted: self = .taken
        case _ where error.isConnectionLost: self = .connectionLost
        case "53100": self = .full
        // Deadlock, serialization, a number or an identity that both have written.
        case "40P01", "40001", "23505": self = .collision
        case "55P03": self = .locked
        case _: self = .other
        }
    }
}
