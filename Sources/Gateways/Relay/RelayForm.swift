/// How another relay takes notifications: as Bisq's own relay does from one generation of Bisq.
package enum RelayForm: String, CaseIterable, Sendable {
    /// `GET /relay?...`, answered with `success`.
    case bisq1
    /// `POST /v1/{apns|fcm}/device/{token}`, answered with JSON.
    case bisq2

    /// Where Bisq's relay is, as Bisq's source has it: `MobileNotificationService.java` of Bisq 1, `desktop.conf` of
    /// Bisq 2.
    package var bisqsOwn: String {
        switch self {
        case .bisq1: "http://bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"
        case .bisq2: "http://6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion:8021"
        }
    }
}
