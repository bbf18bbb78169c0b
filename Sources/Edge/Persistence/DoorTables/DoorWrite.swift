import Relay

/// One change of a door's tables that waits for the next commit.
struct DoorWrite {
    /// Runs the change's statements. What they throw undoes this change and no other.
    let run: (StoreStatements) throws(StoreError) -> Void
    /// Called once: with `nil` after the commit that holds it, or with why nothing was changed.
    let end: (OutboxError?) -> Void
}
