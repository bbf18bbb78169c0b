import Gateways
import Glibc
import Logging
import Outbound
import Reactor
import Relay
import Tor

/// Makes gateways of what is configured, and reads the files of credentials for them.
package enum GatewayAssembly {
    /// A gateway with the lane it serves.
    package struct Lane {
        package let id: LaneID
        package let gateway: any Gateway
    }

    /// All gateways of one app, and how they get other credentials.
    package struct AppGateways {
        package let app: String
        let lanes: [Lane]
        /// Opens a gateway for a lane to an origin; `nil`: there can be none.
        let open: @EventLoop (LaneHost) -> (any Gateway)?
        /// The app's files of credentials as they were when they were read.
        let files: CredentialFiles
        let reload: @EventLoop (any ConfiguredApp, @escaping FileReader) async throws(SettingsFault) -> Void

        /// Returns how credentials are taken over when their files have changed.
        ///
        /// - Parameter app: Its settings, which name the files.
        @EventLoop
        func watched(as app: any ConfiguredApp) -> CredentialWatch.App {
            CredentialWatch.App(name: self.app, files: files) { contents async throws(SettingsFault) in
                try await reload(app, contents.read)
            }
        }
    }

    /// Returns the apps, as validation needs to know them.
    package static func apps(of settings: Settings) -> [App] {
        settings.apps.map { app in
            App(
                name: app.name, service: app.service, isEnabled: app.hasCredentials, targets: app.targets)
        }
    }

    /// Makes the gateways of all apps with credentials.
    ///
    /// - Parameter tor: for those whose way goes through it in any case.
    @EventLoop
    static func gateways(
        for settings: Settings, by egress: Egress, tor: Egress, log: Logger
    ) throws(NodeError) -> [AppGateways] {
        var gateways: [AppGateways] = []
        for (index, app) in settings.apps.enumerated() {
            guard app.hasCredentials else {
                log.warning("gateway.disabled", metadata: ["app": "\(app.name)", "reason": "no credentials"])
                continue
            }
            let egress = app.settings.needsTor ? tor : egress
            do throws(SettingsFault) {
                gateways.append(try self.gateways(for: app, by: egress, key: "apps[\(index)]", log: log))
            } catch {
                throw .configuration("\(error)")
            }
        }
        return gateways
    }

    /// Returns all that is wrong with the files that the settings name.
    ///
    /// - Parameters:
    ///   - closed: these are left out: see ``Settings/closedCredentials``.
    ///   - file: Reads the files. Where a node runs, they were read before: its loop waits for no disk.
    ///   - ends: Whether a certificate that has ended is a fault. A node starts with it.
    @EventLoop
    package static func faults(
        in settings: Settings, except closed: [String] = [],
        reading file: @escaping FileReader = CredentialFiles.read, ends: Bool = true
    ) -> [SettingsFault] {
        let silent = Logger(label: "onionbell") { _ in SwiftLogNoOpLogHandler() }
        var faults: [SettingsFault] = []
        for (index, app) in settings.apps.enumerated()
        where app.hasCredentials && !app.settings.secretFiles.contains(where: closed.contains) {
            do throws(SettingsFault) {
                let opened = try gateways(
                    for: app, by: .direct, key: "apps[\(index)]", log: silent, reading: file)
                let now = EventLoop.unixMilliseconds / 1000
                if ends, let end = opened.lanes.first?.gateway.figures.certificateEnd, end <= now {
                    faults.append(
                        SettingsFault(
                            key: "apps[\(index)].certificate_file",
                            problem: "\(CertificateAlarm.state(end: end, now: now)): "
                                + CertificateAlarm.advice(for: app.name)))
                }
            } catch {
                faults.append(error)
            }
        }
        if !closed.contains(settings.doors.keyFile) {
            do throws(SettingsFault) {
                let now = EventLoop.unixMilliseconds / 1000
                if let end = try DoorListeners.shown(by: settings.doors, reading: file)?.end, ends, end <= now
                {
                    faults.append(
                        SettingsFault(
                            key: "doors.https.certificate_file",
                            problem: "\(CertificateAlarm.state(end: end, now: now)): "
                                + CertificateAlarm.advice(for: "https")))
                }
            } catch {
                faults.append(error)
            }
        }
        for (key, path) in settings.plainFiles where !closed.contains(path) {
            do throws(SystemError) {
                _ = try file(path)
            } catch {
                faults.append(
                    SettingsFault(
                        key: key, problem: SystemError(ofNamedFile: path, error).wordsOfCredential))
            }
        }
        return faults + (settings.keeperOfStore?.faultsOfPlace ?? [])
    }

    @EventLoop
    private static func gateways(
        for app: Settings.App, by egress: Egress, key: String, log: Logger,
        reading file: @escaping FileReader = CredentialFiles.read
    ) throws(SettingsFault) -> AppGateways {
        let egress = egress.forApp(app.name)
        var log = log
        log[metadataKey: "app"] = "\(app.name)"
        // Before they are read: a change in between is noticed.
        let files = CredentialFiles(app.settings.files, reading: file)
        let opened = try prefixed(key) { () throws(CredentialFault) in
            try app.settings.open(by: egress, reading: file, log: log)
        }
        return AppGateways(
            app: app.name,
            lanes: opened.gateways.map {
                Lane(id: LaneID(app: app.name, host: $0.host), gateway: $0.gateway)
            },
            open: opened.open, files: files,
            reload: { (app: any ConfiguredApp, file: @escaping FileReader) async throws(SettingsFault) in
                do throws(CredentialFault) {
                    try await opened.reload(app, file)
                } catch {
                    throw SettingsFault(error, in: key)
                }
            })
    }

    @EventLoop
    private static func prefixed<Value>(
        _ key: String, _ body: @EventLoop () throws(CredentialFault) -> Value
    ) throws(SettingsFault) -> Value {
        do throws(CredentialFault) {
            return try body()
        } catch {
            throw SettingsFault(error, in: key)
        }
    }
}

extension [GatewayAssembly.Lane] {
    /// Whether what a lane's gateway says of device tokens may be the fault of the settings.
    @EventLoop
    package func isInDoubt(_ lane: LaneID) -> Bool {
        first { $0.id == lane }?.gateway.figures.isInDoubt ?? true
    }
}

extension SettingsFault {
    fileprivate init(_ fault: CredentialFault, in key: String) {
        self.init(key: fault.key.isEmpty ? key : "\(key).\(fault.key)", problem: fault.problem)
    }
}

/// Reads a file of a secret that the settings name.
///
/// - Parameter key: The setting.
package func readCredential(
    _ path: String, key: String, by file: FileReader = CredentialFiles.read
) throws(SettingsFault) -> [UInt8] {
    do throws(SystemError) {
        return try file(path)
    } catch {
        throw SettingsFault(key: key, problem: SystemError(ofNamedFile: path, error).wordsOfCredential)
    }
}
