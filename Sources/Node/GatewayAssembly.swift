import Crypto
import Delivery
import Gateways
import Glibc
import Logging
import Metrics
import Reactor
import Relay
import TLS
import Tor

extension Settings.App {
    /// Without credentials the app is known, and nothing is sent by it.
    package var hasCredentials: Bool {
        switch credentials {
        case .apns(let apns): !apns.keyFile.isEmpty || !apns.certificateFile.isEmpty
        case .fcm(let fcm): !fcm.serviceAccountFile.isEmpty
        }
    }
}

/// Makes gateways of what is configured, and reads the files of credentials for them.
package enum GatewayAssembly {
    /// A gateway with the lane it serves.
    struct Lane {
        let id: LaneID
        let gateway: any Gateway
        let start: @EventLoop () -> Void
        let figures: @EventLoop () -> GatewayFigures
    }

    /// All gateways of one app, and how they get other credentials.
    struct AppGateways {
        let app: String
        let lanes: [Lane]
        /// As they were when they were read.
        let files: CredentialFiles
        let reload: @EventLoop () throws(SettingsFault) -> Void
    }

    /// What validation needs to know of the apps.
    static func apps(of settings: Settings) -> [App] {
        settings.apps.map { app in
            let payloadSize: @Sendable (BisqContent) -> Int
            switch app.credentials {
            case .apns: payloadSize = APNsRequest.payloadSize
            case .fcm(let fcm):
                let withNotification = fcm.hasNotificationBlock
                payloadSize = { FCMMessage.payloadSize($0, withNotification: withNotification) }
            }
            return App(
                name: app.name, gateway: app.gateway, isEnabled: app.hasCredentials, payloadSize: payloadSize)
        }
    }

    /// The gateways of all apps with credentials.
    @EventLoop
    static func gateways(
        for settings: Settings, by egress: Egress, log: Logger
    ) throws(NodeError) -> [AppGateways] {
        var gateways: [AppGateways] = []
        for (index, app) in settings.apps.enumerated() {
            guard app.hasCredentials else {
                log.warning("gateway.off", metadata: ["app": "\(app.name)", "reason": "no credentials"])
                continue
            }
            do throws(SettingsFault) {
                gateways.append(try self.gateways(for: app, by: egress, key: "apps[\(index)]", log: log))
            } catch {
                throw .configuration("\(error)")
            }
        }
        return gateways
    }

    /// All that is wrong with the files that the settings name.
    @EventLoop
    package static func faults(in settings: Settings) -> [SettingsFault] {
        let silent = Logger(label: "onionbell") { _ in SwiftLogNoOpLogHandler() }
        var faults: [SettingsFault] = []
        for (index, app) in settings.apps.enumerated() where app.hasCredentials {
            do throws(SettingsFault) {
                _ = try gateways(for: app, by: .direct, key: "apps[\(index)]", log: silent)
            } catch {
                faults.append(error)
            }
        }
        do throws(SettingsFault) {
            _ = try DoorListeners.shown(by: settings.doors)
        } catch {
            faults.append(error)
        }
        for (key, path) in [
            ("tor.torrc", settings.tor.torrc), ("tor.password_file", settings.tor.passwordFile),
            ("doors.gorush.secret_file", settings.status.gorushSecretFile),
        ]
        where !path.isEmpty && access(path, R_OK) != 0 {
            faults.append(SettingsFault(key: key, problem: SystemError("open \(path)").description))
        }
        return faults
    }

    @EventLoop
    private static func gateways(
        for app: Settings.App, by egress: Egress, key: String, log: Logger
    ) throws(SettingsFault) -> AppGateways {
        let egress = egress.forApp(app.name)
        var log = log
        log[metadataKey: "app"] = "\(app.name)"
        return switch app.credentials {
        case .apns(let apns): try gateways(for: app.name, apns, by: egress, key: key, log: log)
        case .fcm(let fcm): try gateways(for: app.name, fcm, by: egress, key: key, log: log)
        }
    }

    @EventLoop
    private static func gateways(
        for app: String, _ apns: Settings.APNs, by egress: Egress, key: String, log: Logger
    ) throws(SettingsFault) -> AppGateways {
        let files = CredentialFiles([
            apns.keyFile, apns.certificateFile, apns.certificatePasswordFile, apns.caFile,
        ])
        var settings = try APNsSettings(apns, key: key)
        settings.egress = egress
        let (production, sandbox) = try setUp(key) { () throws(GatewaySetupError) in
            try APNsGateway.both(settings, log: log)
        }
        return AppGateways(
            app: app,
            lanes: [(LaneHost.production, production), (.sandbox, sandbox)].map { host, gateway in
                Lane(
                    id: LaneID(app: app, host: host), gateway: gateway, start: gateway.start,
                    figures: { gateway.figures })
            }, files: files,
            reload: { () throws(SettingsFault) in
                let settings = try APNsSettings(apns, key: key)
                if case .certificate(let identity) = settings.credentials,
                    identity.certificate.validUntil <= EventLoop.unixMilliseconds / 1000
                {
                    throw SettingsFault(
                        key: "\(key).certificate_file", problem: "\(apns.certificateFile) has ended")
                }
                try setUp(key) { () throws(GatewaySetupError) in
                    try production.use(settings)
                    try sandbox.use(settings)
                }
            })
    }

    @EventLoop
    private static func gateways(
        for app: String, _ fcm: Settings.FCM, by egress: Egress, key: String, log: Logger
    ) throws(SettingsFault) -> AppGateways {
        let files = CredentialFiles([fcm.serviceAccountFile, fcm.caFile])
        var settings = try FCMSettings(fcm, key: key)
        settings.egress = egress
        let gateway = try setUp(key) { () throws(GatewaySetupError) in try FCMGateway(settings, log: log) }
        let project = settings.account.projectID
        return AppGateways(
            app: app,
            lanes: [
                Lane(
                    id: LaneID(app: app, host: .production), gateway: gateway, start: gateway.start,
                    figures: { gateway.figures })
            ], files: files,
            reload: { () throws(SettingsFault) in
                let settings = try FCMSettings(fcm, key: key)
                guard settings.account.projectID == project else {
                    throw SettingsFault(
                        key: "\(key).service_account_file",
                        problem: "\(fcm.serviceAccountFile) is of another project: that needs a restart")
                }
                try setUp(key) { () throws(GatewaySetupError) in try gateway.use(settings) }
            })
    }

    @EventLoop
    private static func setUp<Value>(
        _ key: String, _ make: @EventLoop () throws(GatewaySetupError) -> Value
    ) throws(SettingsFault) -> Value {
        do throws(GatewaySetupError) {
            return try make()
        } catch {
            throw SettingsFault(key: key, problem: "\(error)")
        }
    }
}

extension APNsSettings {
    package init(_ apns: Settings.APNs, key: String) throws(SettingsFault) {
        let credentials: APNsCredentials
        if !apns.keyFile.isEmpty {
            let file = try readCredential(apns.keyFile, key: "\(key).key_file")
            do throws(CryptoError) {
                credentials = .providerKey(try ProviderKey(keyID: apns.keyID, teamID: apns.teamID, p8: file))
            } catch {
                throw SettingsFault(key: "\(key).key_file", problem: "\(apns.keyFile): \(error)")
            }
        } else {
            let file = try readCredential(apns.certificateFile, key: "\(key).certificate_file")
            var password = ""
            if !apns.certificatePasswordFile.isEmpty {
                let text = try readCredential(
                    apns.certificatePasswordFile, key: "\(key).certificate_password_file")
                password = String(decoding: text.prefix { $0 != 0x0a && $0 != 0x0d }, as: UTF8.self)
            }
            do throws(CryptoError) {
                credentials = .certificate(try PKCS12.open(file, password: password))
            } catch {
                throw SettingsFault(
                    key: "\(key).certificate_file", problem: "\(apns.certificateFile): \(error)")
            }
        }
        self.init(
            topic: apns.topic, credentials: credentials,
            productionURL: try gatewayURL(apns.productionURL, key: "\(key).production_url"),
            sandboxURL: try gatewayURL(apns.sandboxURL, key: "\(key).sandbox_url"),
            trust: apns.caFile.isEmpty ? .systemRoots : .file(path: apns.caFile))
    }
}

extension FCMSettings {
    package init(_ fcm: Settings.FCM, key: String) throws(SettingsFault) {
        let file = try readCredential(fcm.serviceAccountFile, key: "\(key).service_account_file")
        let account: ServiceAccount
        do throws(ServiceAccount.Fault) {
            account = try ServiceAccount(file: file)
        } catch {
            throw SettingsFault(
                key: "\(key).service_account_file", problem: "\(fcm.serviceAccountFile): \(error)")
        }
        self.init(
            account: account, baseURL: try gatewayURL(fcm.baseURL, key: "\(key).base_url"),
            tokenURL: fcm.tokenURL.isEmpty ? nil : try gatewayURL(fcm.tokenURL, key: "\(key).token_url"),
            trust: fcm.caFile.isEmpty ? .systemRoots : .file(path: fcm.caFile),
            withNotification: fcm.hasNotificationBlock)
    }
}

private func gatewayURL(_ text: String, key: String) throws(SettingsFault) -> GatewayURL {
    do throws(GatewayURL.Fault) {
        return try GatewayURL(text)
    } catch {
        throw SettingsFault(key: key, problem: "\"\(text)\" is \(error)")
    }
}

func readCredential(_ path: String, key: String) throws(SettingsFault) -> [UInt8] {
    do throws(SystemError) {
        return try PrivateFile.read(path, limit: CredentialFiles.limit)
    } catch {
        throw SettingsFault(key: key, problem: error.description)
    }
}
