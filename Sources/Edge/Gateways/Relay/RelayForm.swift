/// How another relay takes notifications: as Bisq's own relay does from one generation of Bisq, or as an Onionbell's peer
/// endpoint does.
package enum RelayForm: String, CaseIterable, Sendable {
    /// `GET /relay?...`, answered with `success`.
    case bisq1
    /// `POST /v1/{apns|fcm}/device/{token}`, answered with JSON.
    case bisq2
    /// A frame of the peers' protocol, answered with frames (`onionbell.proto`, 1001 and 1002).
    case p2p

    /// The address of Bisq's relay, as Bisq's source has it: `MobileNotificationService.java` of Bisq 1, `desktop.conf` of
    /// Bisq 2; `nil`: it doesn't take this form.
    package var bisqsOwn: String? {
        switch self {
        case .bisq1: "http://bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"
        case .bisq2: "http://6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion:8021"
        case .p2p: nil
        }
    }

    /// The generation of Bisq whose phones are served by default. The peers' protocol is Bisq 1's.
    package var generation: RelayForm { self == .p2p ? .bisq1 : self }
}
