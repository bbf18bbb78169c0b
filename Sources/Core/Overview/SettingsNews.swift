/// The settings in the file, where they are not those that the node runs with.
package struct SettingsNews: Equatable, Sendable {
    /// A thing that is read again while the node runs.
    package enum Part: String, CaseIterable, Sendable {
        case settings = "the settings"
        case password = "storage.password_file"
        case peers = "the keys of peers"
        case consoleClients = "the keys of the console's browsers"
        case phoneBook = "the phone book"
    }

    /// The keys that were changed since the start and are used after the next one.
    package var restartDue: [String] = []
    /// The reason why a start with the settings of the file failed, so that those from before are in use.
    package var startFault: String?
    /// Reasons why things were refused when they were read last. What was read before stays in use; a start would not have it.
    private var reasons: [Part: String] = [:]

    package init() {}

    /// Notes what became of a thing when it was read.
    ///
    /// - Parameter reason: Why it was refused; `nil`: it was taken.
    package mutating func note(_ part: Part, refused reason: String?) { reasons[part] = reason }

    /// Things that were refused, each with its reason.
    var refused: [(part: Part, reason: String)] {
        Part.allCases.compactMap { part in reasons[part].map { (part, $0) } }
    }

    /// The most keys that are named.
    package static let mostNamed = 20
}

extension Report {
    /// The check of the settings: a change that waits for a restart, or one that can't be used, is said until it is done.
    var settingsCheck: Check {
        if let fault = settings.startFault {
            return Check(
                .settings, level: .failing,
                state:
                    "the node could not start with its settings, and runs with those from before: \(fault)",
                advice: "correct the settings, then run onionbell restart")
        }
        let refused = settings.refused
        if let first = refused.first {
            return Check(
                .settings, level: .warning,
                state: "refused, and what was read before stays in use: "
                    + refused.map { "\($0.part.rawValue): \($0.reason)" }.joined(separator: "; "),
                advice:
                    "correct \(first.part.rawValue) before the node restarts; onionbell check-config tells what is wrong with files"
            )
        }
        guard settings.restartDue.isEmpty else {
            return Check(
                .settings, level: .warning,
                state: "a restart is due for "
                    + settings.restartDue.prefix(SettingsNews.mostNamed).joined(separator: ", "),
                advice:
                    "the node goes on with the old values until onionbell restart, or Restart now in the console"
            )
        }
        return .counted(.settings, "in use as they were read")
    }
}
