import Persistence
import Relay

/// The room for one registration, and the older ones that would go for it. None of them goes before they are known to suffice.
struct StatusIMRoom {
    /// A registration that would give way.
    struct Leaving {
        let number: Int64
        let owner: Digest
        let isRegistered: Bool
        let bytes: Int

        /// Takes the row that a statement stands on.
        init(_ row: borrowing Statement) {
            number = row.integer(0)
            owner = Digest(row.pair(1))
            isRegistered = row.integer(2) != 0
            bytes = Int(row.integer(3))
        }
    }

    var installations: Int
    var bytes: Int
    private(set) var leaving: [Int64: Leaving] = [:]
    /// The phones that the caller named and that would give way.
    private(set) var given: [StatusIMRegistration.Key] = []
    private let most: StatusIMRegistration.Limits
    /// The number of registrations before the change.
    private let present: Int

    /// The most registrations that give way to one.
    private static let mostLeaving = 16

    init(_ total: (installations: Int, bytes: Int), _ limits: StatusIMRegistration.Limits) {
        (installations, bytes) = total
        present = installations
        most = limits
    }

    /// A limit that was lowered is come down to by and by.
    var suffices: Bool {
        installations <= max(most.installations, present) && bytes <= most.bytes
    }

    /// Registrations beyond the limit, if there is one more than before.
    var excess: Int {
        installations > present
            ? max(0, min(installations - most.installations, StatusIMRoom.mostLeaving)) : 0
    }

    mutating func give(_ one: Leaving, as key: StatusIMRegistration.Key? = nil) {
        if let key { given.append(key) }
        guard leaving.updateValue(one, forKey: one.number) == nil else { return }
        installations -= 1
        bytes -= one.bytes
    }
}
