import Glibc
import JSONCoding
import Reactor
import Tor

/// The faults of settings and of the files that they name, and remarks on them. `check-config` and the console say the
/// same.
package struct SettingsCheck: Sendable {
    package let faults: [SettingsFault]
    /// Sentences of what is no error.
    package let remarks: [String]

    /// The files that settings name, and what is wrong with their places: all that a disk is asked for. Never read on the
    /// loop of a node that runs.
    package struct Disk: Sendable {
        let contents: CredentialFiles.Contents
        let closed: [String]
        let faults: [SettingsFault]
        let remarks: [String]

        package init(of settings: Settings) {
            contents = CredentialFiles.Contents(reading: settings.filesOfStart)
            closed = settings.closedCredentials
            var faults = settings.missingPlaces + settings.frontFaults
            var remarks: [String] = []
            switch settings.tor.mode == .own ? nil : settings.tor.credentials.cookieFault {
            // Who asks is not who runs: ``NodeUser`` judges that.
            case .cookieUnreadable(let error)? where error.code == EACCES: break
            case .cookieUnreadable(let error)? where error.code == ENOENT:
                remarks.append(
                    "tor.cookie_file: there is no \(settings.tor.cookieFile) yet; tor writes it when it starts"
                )
            case let fault?: faults.append(SettingsFault(key: "tor.cookie_file", problem: "\(fault)"))
            case nil: break
            }
            self.faults = faults
            self.remarks = remarks
        }
    }

    @EventLoop
    package init(of settings: Settings, on disk: Disk) {
        let closed = disk.closed
        faults =
            GatewayAssembly.faults(in: settings, except: closed, reading: disk.contents.read) + disk.faults
        var remarks = closed.map { "not checked, because this user may not read it: \($0)" }
        for app in settings.apps {
            if let doubt = app.settings.doubt {
                remarks.append("\(app.name): \(doubt.words): \(doubt.advice)")
            }
        }
        for app in settings.apps where !app.hasCredentials {
            remarks.append("\(app.name): disabled, because it has no credentials")
        }
        remarks += disk.remarks
        remarks += settings.features.flatMap(\.openPlaces).map(\.sentence)
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
