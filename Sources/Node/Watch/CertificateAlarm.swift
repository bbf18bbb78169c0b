import Overview
import Relay

/// The times at which an operator is to hear that a certificate comes to its end: Apple gives those for
/// pushing for a year, others are given for some weeks and renewed a month before.
///
/// Times are seconds since 1970.
package struct CertificateAlarm: Equatable {
    /// The time before the end from which on the log has a warning once a day.
    package static let warning: Int64 = 30 * day
    /// The node's health fails from here on.
    static let failing: Int64 = 7 * day
    private static let day: Int64 = 86_400

    private var warnedAt = Int64.min

    /// Takes the warning that is due, and notes its time. A certificate that lasts longer forgets the warnings before.
    ///
    /// - Returns: Whether to write a warning now.
    mutating func takeWarning(end: Int64, now: Int64) -> Bool {
        guard end - now < CertificateAlarm.warning else {
            warnedAt = .min
            return false
        }
        // A clock that went back must not keep the warning away for long.
        guard warnedAt == .min || abs(now - warnedAt) >= CertificateAlarm.day else { return false }
        warnedAt = now
        return true
    }

    package static func isWell(end: Int64, now: Int64) -> Bool { end - now >= failing }

    /// Returns the advice about the certificate of an app, or of the doors' own `https`.
    package static func advice(for app: String) -> String {
        app == CheckKind.https
            ? "replace the certificate and key of doors.https by new ones"
            : "make a new one at developer.apple.com (Certificates), export it as .p12 and replace the old file"
    }

    /// Returns the check of a certificate.
    ///
    /// - Parameters:
    ///   - fault: Why the files as they are now were not taken; `nil`: they were.
    ///   - shown: The time since the last handshake, where it is the listeners'.
    static func check(of app: String, end: Int64, now: Int64, fault: String?, shown: ProofAge) -> Check {
        let words = state(end: end, now: now)
        guard end - now >= warning else {
            return Check(
                .certificate(of: app), level: isWell(end: end, now: now) ? .warning : .failing,
                state: fault.map { "\(words); a new one was refused: \($0)" } ?? words,
                advice: advice(for: app))
        }
        if let fault {
            return Check(
                .certificate(of: app), level: .warning,
                state: "\(words); the files as they are now were refused: \(fault)",
                advice:
                    "put files there that belong together and that the node's user can read: a restart would fail with these; "
                    + "until then the old ones stay in use")
        }
        return .proven(.certificate(of: app), words, shown)
    }

    /// Returns in words how long the certificate lasts.
    package static func state(end: Int64, now: Int64) -> String {
        guard end > now else {
            return UTCTime.text(end * 1000).map { "the certificate has expired on \($0.prefix(10))" }
                ?? "the certificate has expired"
        }
        let days = (end - now) / day
        return days == 1 ? "the certificate expires in one day" : "the certificate expires in \(days) days"
    }
}
