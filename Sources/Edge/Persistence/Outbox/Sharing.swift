import Clocks
import Relay

/// The part of a store that other nodes use at the same time: what each of them has of it, and what they tell each other. Only
/// an engine that takes several nodes has one; without it, all that is stored is this node's.
///
/// The store's thread alone calls it. It may gather the rows that a commit adds and takes away: ``write()`` comes before
/// anything is asked of the store that depends on them.
package protocol Sharing: AnyObject {
    // MARK: Shards

    /// The shards whose backlog this node knows.
    var owned: Shards { get }
    /// The shards of which something may be claimed.
    var held: Shards { get }
    /// Whether notifications have come from other nodes that the core does not know of yet.
    var hasArrivals: Bool { get }

    /// Takes and gives up shards, and takes what others have stored for this node.
    func divide(
        _ request: ShareRequest, _ backlog: Backlog, on connection: borrowing Connection
    ) throws(StoreError) -> Share

    // MARK: At the start

    /// Returns what waits in the backlog for this node, by lane.
    func waiting() throws(StoreError) -> [LaneBacklog]

    /// Adds to the content what there is for this node's shards, and who else is there.
    func complete(_ content: inout OutboxContent) throws(StoreError)

    // MARK: The connection

    /// Makes a connection if there is none, and brings this node's part to what the store has.
    func connect(_ backlog: Backlog, on connection: borrowing Connection) throws(StoreError)

    /// Keeps this node's right to the store after something has waited for a lock in vain.
    ///
    /// - Returns: The failure with who holds the lock, as far as that can be seen.
    func outwait(_ error: StoreError) -> StoreError

    /// The descriptor on which words of other nodes come in.
    var socket: Int32? { get }

    /// Takes the words that have come in.
    ///
    /// - Returns: Whether any have come.
    func takeNotices() -> Bool

    /// Reads what has come.
    func hear()

    // MARK: Commits

    /// Makes a commit, again if another node was in the way, and tells other nodes what it has stored for them.
    ///
    /// - Parameter once: Makes the commit once.
    func commit<Value>(
        _ changes: [OutboxChange], _ once: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value

    /// Begins what a commit changes.
    func begin(_ changes: [OutboxChange]) throws(StoreError)

    /// Writes what is gathered, if a change asks for it or changes it.
    func prepare(for change: OutboxChange) throws(StoreError)

    /// Gives up shards: with the running commit they are free.
    func giveUp(_ shards: Shards) throws(StoreError)

    /// Notes that the commit was made.
    ///
    /// - Returns: The shards that it has given up.
    func committed() -> Shards

    /// Finds out whether a commit was made although it failed, since only its answer was lost.
    ///
    /// - Returns: Whether the commit was certainly made.
    func wasMade(after error: StoreError) -> Bool

    /// Notes that the commit was rolled back, as far as is known.
    func rolledBack()

    // MARK: Rows of the running commit

    /// Writes what is gathered.
    func write() throws(StoreError)

    /// Drops what is gathered.
    func drop()

    /// Takes a number for a row that is stored.
    func takeNumber() throws(StoreError) -> Int64

    /// Gives a number back: it is for the next row of the commit.
    func giveBack(_ number: Int64)

    /// Adds a notification that is in this node's memory as well.
    func store(_ request: StoreRequest, at sequence: Int64) throws(StoreError)

    /// Adds a notification to the backlog of the node that has its shard.
    ///
    /// - Returns: `false`: there are as many of the device as may be.
    func add(_ request: StoreRequest, room: Int, at sequence: Int64) throws(StoreError) -> Bool

    /// Notes that the commit stores a notification for this node itself.
    func keep(_ sequence: Int64)

    /// Takes away a row of `notification`.
    func leave(_ sequence: Int64)

    /// Takes away a row of `backlog`.
    func leaveBacklog(_ sequence: Int64)

    // MARK: Identities

    /// Adds an identity.
    func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime, at sequence: Int64)

    /// Returns the number of what is stored with an identity; `nil`: nothing is.
    func sequence(of identity: Digest) throws(StoreError) -> Int64?

    /// Returns about how many identities there are.
    func remembered() throws(StoreError) -> Int
}
