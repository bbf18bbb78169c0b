import Encodings

/// The settings in the file, where they are not those that the node runs with.
package struct SettingsNews: Equatable, Sendable {
    /// The keys that were changed since the start and are used after the next one.
    package var restartDue: [String] = []
    /// Things of the settings that were refused when they were read last, each with its reason: a start would not have them.
    package var refused: [Refusal] = []

    /// A thing that was refused, and why.
    package struct Refusal: Equatable, Sendable {
        package var what: String
        package var reason: String

        package init(_ what: String, _ reason: String) { (self.what, self.reason) = (what, reason) }
    }

    package init() {}

    /// Notes what became of a thing when it was read.
    ///
    /// - Parameter reason: Why it was refused; `nil`: it was taken.
    package mutating func note(_ what: String, refused reason: String?) {
        refused.removeAll { $0.what.hasSameBytes(as: what) }
        if let reason { refused.append(Refusal(what, reason)) }
    }

    /// The most keys that are named.
    package static let mostNamed = 20
}

extension Report {
    /// The check of the settings: a change that waits for a restart, or one that can't be used, is said until it is done.
    var settingsCheck: Check {
        if let first = settings.refused.first {
            return Check(
                .settings, level: .warning,
                state:
                    "refused, and the old \(settings.refused.count == 1 ? "one stays" : "ones stay") in use: "
                    + settings.refused.map { "\($0.what): \($0.reason)" }.joined(separator: "; "),
                advice:
                    "correct \(first.what) before the node restarts; onionbell check-config tells every fault"
            )
        }
        guard settings.restartDue.isEmpty else {
            return Check(
                .settings, level: .warning,
                state: "a restart is due for "
                    + settings.restartDue.prefix(SettingsNews.mostNamed).joined(separator: ", "),
                advice:
                    "the node goes on with the old values: systemctl restart onionbell, or Settings in the console"
            )
        }
        return .counted(.settings, "in use as they were read")
    }
}
