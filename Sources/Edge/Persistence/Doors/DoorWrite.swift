import Relay

/// One change of a door's tables that waits for the next commit.
struct DoorWrite {
    /// Runs its statements. What it throws undoes this change and no other.
    let run: (Store) throws(StoreError) -> Void
    /// Called once: with `nil` after the commit that holds it, or with why nothing was changed.
    let end: (OutboxError?) -> Void
}
