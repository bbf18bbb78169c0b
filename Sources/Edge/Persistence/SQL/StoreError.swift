import Encodings

/// A call into a store's engine that failed, with its own words. They name tables and files, never a row's content.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Operation: String, Sendable {
        case open, prepare, bind, step
    }

    /// The meaning of a failure for the store's user. Each engine translates its own codes.
    package enum Kind: Sendable {
        /// The engine took the store, and the node does not. The message is a sentence.
        case refused
        /// The store holds something else than was written.
        case damaged
        /// No room on the disk, or the disk doesn't take what it is given.
        case full
        /// The connection was lost, so that what was asked may have been done or not.
        case connectionLost
        /// Another node was in the way for a moment: once more it may succeed.
        case collision
        /// Somebody else held a lock for as long as a node waits for one.
        case locked
        /// Another node has the store.
        case taken
        /// The store went back: rows of this node may be gone.
        case setBack
        /// Nobody has the store open any more.
        case closed
        case other
    }

    package let kind: Kind
    package let operation: Operation
    package let message: String
    /// The engine's number of the failure; `nil`: it tells them by words.
    let code: Int32?
    package let description: String

    /// Makes the error from its parts.
    ///
    /// - Parameter description: All that a person is told.
    package init(
        _ kind: Kind, _ operation: Operation, _ message: String, code: Int32?, description: String
    ) {
        self.kind = kind
        self.operation = operation
        self.message = message
        self.code = code
        self.description = description
    }

    /// Makes a failure that the node has found, and no engine.
    package init(_ kind: Kind, _ operation: Operation, _ message: String) {
        self.init(code: kind.customaryCode, operation: operation, message: message, kind)
    }

    /// Makes a refusal of the store.
    ///
    /// - Parameter sentence: Why the node does not take the store.
    package init(refused sentence: String) { self.init(.refused, .open, sentence) }

    package static let noRow = StoreError(.other, .step, "no row came back")
}
