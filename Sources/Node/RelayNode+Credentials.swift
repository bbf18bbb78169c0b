import Gateways
import Logging
import Reactor

/// Credentials that are taken over while the node runs.
extension RelayNode {
    func watchCredentials() {
        var apps = gateways.compactMap { gateways in
            configured[gateways.app].map { app in
                CredentialWatch.App(name: gateways.app, files: gateways.files) {
                    () async throws(SettingsFault) in try await gateways.reload(app)
                }
            }
        }
        if let https = listeners?.watched { apps.append(https) }
        let credentials = CredentialWatch(apps, log: log) { [unowned self] app in
            dispatcher?.resume(app: app)
            warnOfCertificates()
        }
        credentials.start()
        self.credentials = credentials
        certificateTimer = Timer { [unowned self] in warnOfCertificates() }
        warnOfCertificates()
    }

    /// Once a day for each app whose certificate comes to its end.
    func warnOfCertificates() {
        let now = EventLoop.unixMilliseconds / 1000
        for (app, end) in certificateEnds
        where certificateAlarms[app, default: .init()].isDue(end: end, now: now) {
            log.warning(
                "certificate.expiring",
                metadata: ["app": "\(app)", "state": "\(CertificateAlarm.state(end: end, now: now))"])
        }
        certificateTimer?.start(after: .seconds(3600))
    }

    /// Seconds since 1970, of the apps that have a certificate and of our own.
    var certificateEnds: [(app: String, end: Int64)] {
        var ends = gateways.compactMap { gateways in
            gateways.lanes.first?.gateway.figures.certificateEnd.map { (gateways.app, $0) }
        }
        if let end = listeners?.certificateEnd { ends.append(("https", end)) }
        return ends
    }

    /// Of all settings, apps' credentials are taken over while the node runs.
    func rereadSettings() async {
        guard let readSettings, let credentials else { return }
        let settings: Settings
        switch await RelayNode.read(readSettings) {
        case .success(let read): settings = read
        case .failure(let error):
            return log.error("settings.rejected", metadata: ["reason": "\(error)"])
        }
        for gateways in gateways {
            guard let app = settings.apps.first(where: { $0.name == gateways.app })?.settings,
                let before = configured[gateways.app], app.changeable != before.changeable
            else { continue }
            let files = CredentialFiles(app.files)
            let isTaken = await credentials.change(gateways.app, files: files) {
                () async throws(SettingsFault) in try await gateways.reload(app)
            }
            if isTaken { configured[gateways.app] = app }
        }
    }

    @FileThread
    private static func read(
        _ settings: @Sendable () throws(SettingsError) -> Settings
    ) -> Result<Settings, SettingsError> {
        do throws(SettingsError) {
            return .success(try settings())
        } catch {
            return .failure(error)
        }
    }
}
