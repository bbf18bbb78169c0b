/// The kind of phone that a sender says a notification is for, by its number in the peers' protocol.
package enum Platform: Int32, CaseIterable, Sendable {
    case ios = 1
    /// Served by Apple's sandbox host, for apps built by their developers.
    case iosDev = 2
    case android = 3

    /// The first section of a pairing token; the outbox's phone book has it too.
    package var pairingMagic: String {
        switch self {
        case .ios: "iOS"
        case .iosDev: "iOSDev"
        case .android: "android"
        }
    }

    package init?(pairingMagic bytes: some Sequence<UInt8>) {
        guard let platform = Self.allCases.first(where: { bytes.elementsEqual($0.pairingMagic.utf8) })
        else { return nil }
        self = platform
    }
}
