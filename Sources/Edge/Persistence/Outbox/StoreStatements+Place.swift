/// Rescue of a store that is missing from its place while the node runs, so that the next start would not find it.
extension StoreStatements {
    /// The reason why nothing may be stored now, or what was done about it.
    enum Displacement {
        /// All is in its place again, and this store is to be used from now on.
        case written(StoreStatements, reason: String)
        case unwritten(reason: String)
    }

    /// Looks for the store in its place, and has a missing one written anew; `nil`: the store is in its place.
    func lookForPlace() -> Displacement? {
        switch connection.engine.look() {
        case .inPlace: return nil
        case .lost(let reason): return .unwritten(reason: reason)
        case .anew(let reason):
            do throws(StoreError) {
                return .written(try StoreStatements(place, after: self), reason: reason)
            } catch {
                return .unwritten(reason: "\(reason), and can't be opened: \(error)")
            }
        }
    }
}
