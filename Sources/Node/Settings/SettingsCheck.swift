import JSONCoding
import Reactor

/// The faults of settings and of the files that they name, and remarks on them. `check-config` and the console say the
/// same.
package struct SettingsCheck: Sendable {
    package let faults: [SettingsFault]
    /// Sentences of what is no error.
    package let remarks: [String]

    @EventLoop
    package init(of settings: Settings) {
        let closed = settings.closedCredentials
        faults =
            GatewayAssembly.faults(in: settings, except: closed) + settings.missingPlaces
            + settings.frontFaults
        var remarks = closed.map { "not checked, because this user may not read it: \($0)" }
        for app in settings.apps {
            if let doubt = app.settings.doubt {
                remarks.append("\(app.name): \(doubt.words): \(doubt.advice)")
            }
        }
        for app in settings.apps where !app.hasCredentials {
            remarks.append("\(app.name): disabled, because it has no credentials")
        }
        remarks += settings.openEndpoints.map { "\($0)" }
        remarks += settings.warnings.map { "\($0.words): \($0.advice)" }
        if settings.apps.isEmpty {
            remarks.append(
                "no apps: every notification will be refused; onionbell init --bisq needs no account")
        }
        self.remarks = remarks
    }
}

extension SettingsFault {
    package var json: JSON {
        [
            "key": .string(key), "line": line.map { .integer(Int64($0)) } ?? .null,
            "problem": .string(problem),
        ]
    }
}
