import Encodings
import PostgreSQL

extension StoreError {
    init(_ error: PostgreSQLError, _ operation: Operation) {
        self.init(Kind(error), operation, error)
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
        // Deadlock, serialization, a number or an identity that both have written, and a lock that was waited for.
        case "40P01", "40001", "23505", "55P03": self = .collision
        case _: self = .other
        }
    }
}
