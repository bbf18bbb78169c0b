import Crypto
import Delivery
import Gateways
import Glibc
import Logging
import Reactor
import Relay
import TLS
import Tor

extension Settings.App {
    /// Without credentials the app is known, and nothing is sent by it.
    var hasCredentials: Bool {
        switch credentials {
        case .apns(let apns): !apns.keyFile.isEmpty || !apns.certificateFile.isEmpty
        case .fcm(let fcm): !fcm.serviceAccountFile.isEmpty
        }
    }
}

/// Makes gateways of what is configured, and reads the files of credentials for them.
enum GatewayAssembly {
    /// A gateway with the lane it serves.
    struct Lane {
        let id: LaneID
        let gateway: any Gateway
        let start: @EventLoop () -> Void
        let figures: @EventLoop () -> GatewayFigures
    }

    /// What validation needs to know of the apps.
    static func apps(of settings: Settings) -> [App] {
        settings.apps.map { app in
            let payloadSize: @Sendable (Notification) -> Int
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
    static func lanes(for settings: Settings, log: Logger) throws(NodeError) -> [Lane] {
        var lanes: [Lane] = []
        for (index, app) in settings.apps.enumerated() {
            guard app.hasCredentials else {
                log.warning("gateway.off", metadata: ["app": "\(app.name)", "reason": "no credentials"])
                continue
            }
            do throws(SettingsFault) {
                lanes += try self.lanes(for: app, key: "apps[\(index)]", log: log)
            } catch {
                throw .configuration("\(error)")
            }
        }
        return lanes
    }

    /// All that is wrong with the files that the settings name.
    @EventLoop
    static func faults(in settings: Settings) -> [SettingsFault] {
        let silent = Logger(label: "onionbell") { _ in SwiftLogNoOpLogHandler() }
        var faults: [SettingsFault] = []
        for (index, app) in settings.apps.enumerated() where app.hasCredentials {
            do throws(SettingsFault) {
                _ = try lanes(for: app, key: "apps[\(index)]", log: silent)
            } catch {
                faults.append(error)
            }
        }
        for (key, path) in [
            ("tor.torrc", settings.tor.torrc), ("tor.password_file", settings.tor.passwordFile),
        ]
        where !path.isEmpty && access(path, R_OK) != 0 {
            faults.append(SettingsFault(key: key, problem: SystemError("open \(path)").description))
        }
        return faults
    }

    @EventLoop
    private static func lanes(
        for app: Settings.App, key: String, log: Logger
    ) throws(SettingsFault) -> [Lane] {
        var log = log
        log[metadataKey: "app"] = "\(app.name)"
        switch app.credentials {
        case .apns(let apns):
            let settings = try APNsSettings(apns, key: key)
            let both: (production: APNsGateway, sandbox: APNsGateway)
            do throws(GatewaySetupError) {
                both = try APNsGateway.both(settings, log: log)
            } catch {
                throw SettingsFault(key: key, problem: "\(error)")
            }
            return [(false, both.production), (true, both.sandbox)].map { isSandbox, gateway in
                Lane(
                    id: LaneID(app: app.name, isSandbox: isSandbox), gateway: gateway, start: gateway.start,
                    figures: { gateway.figures })
            }
        case .fcm(let fcm):
            let settings = try FCMSettings(fcm, key: key)
            let gateway: FCMGateway
            do throws(GatewaySetupError) {
                gateway = try FCMGateway(settings, log: log)
            } catch {
                throw SettingsFault(key: key, problem: "\(error)")
            }
            return [
                Lane(
                    id: LaneID(app: app.name, isSandbox: false), gateway: gateway, start: gateway.start,
                    figures: { gateway.figures })
            ]
        }
    }
}

extension APNsSettings {
    fileprivate init(_ apns: Settings.APNs, key: String) throws(SettingsFault) {
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
    fileprivate init(_ fcm: Settings.FCM, key: String) throws(SettingsFault) {
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

/// Keys and certificates are small: 256 KiB at most.
private func readCredential(_ path: String, key: String) throws(SettingsFault) -> [UInt8] {
    do throws(SystemError) {
        return try PrivateFile.read(path, limit: 256 << 10)
    } catch {
        throw SettingsFault(key: key, problem: error.description)
    }
}
