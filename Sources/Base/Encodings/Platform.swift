/// The kind of phone that a sender says a notification is for, by its number in the peers' protocol.
package enum Platform: Int32, CaseIterable, Sendable {
    case ios = 1
    /// Served by Apple's sandbox host, for apps built by their developers.
    case iosDev = 2
    case android = 3
}
