import Logging
import Reactor
import Relay
import TLS

@testable import Gateways

/// One app at the skeleton's service: its keys under `apps`, and what is made of them.
///
/// ```yaml
/// apps:
///   - name: my-phones
///     gateway: skeleton
///     url: https://push.example.org
///     key_file: /etc/onionbell/skeleton-key
/// ```
struct SkeletonApp: ConfiguredApp {
    private var url = ""
    private var keyFile = ""
    private var caFile = ""

    static let gateway = "skeleton"
    /// False where each push is paid by the operator's own account, or counts against it (`NtfyApp`).
    static let ringsStrangers = true

    /// Asks for each key once, also when an earlier one is wrong: `check-config` shows all faults together.
    init(_ section: any SettingsSection) {
        section.origin("url", &url)
        if url.isEmpty {
            section.fault("url", "an app of gateway skeleton needs its server: https://HOST[:PORT]")
        }
        section.credential("key_file", &keyFile)
        section.path("ca_file", &caFile)
    }

    var service: any PushService { SkeletonService() }
    var hosts: [LaneHost] { [.production] }
    var hasCredentials: Bool { !url.isEmpty && !keyFile.isEmpty }
    var secretFiles: [String] { [keyFile] }
    var files: [String] { [keyFile, caFile] }

    /// Opens the app. The closure is called when one of ``files`` has changed, while requests are on their way.
    func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        let settings = try load(by: egress, reading: file)
        let gateway = try setUp { () throws(GatewaySetupError) in try SkeletonGateway(settings, log: log) }
        return OpenedApp([(.production, gateway)]) { _, file throws(CredentialFault) in
            let settings = try load(by: egress, reading: file)
            try setUp { () throws(GatewaySetupError) in try gateway.use(settings) }
        }
    }

    /// Asks the service about ``SkeletonRequest/nobody``, for `onionbell doctor` and `onionbell watch`: it refuses that
    /// device only if it has taken the key.
    func probes(by egress: Egress, reading file: FileReader) throws(CredentialFault) -> [GatewayProbe] {
        let settings = try load(by: egress, reading: file)
        return [
            GatewayProbe(of: .production, at: settings.url) { () async throws(GatewaySetupError) in
                let notification = GatewayProbe.notification(to: SkeletonRequest.nobody)
                guard let request = SkeletonRequest(notification, at: settings.url, key: settings.key) else {
                    return .unclear(reason: Reason.badMessage.code)
                }
                return
                    switch await GatewayProbe.exchange(
                        settings.url, by: settings.egress, try SkeletonGateway.context(settings.trust),
                        .http1,
                        request.head, request.body)
                {
                case .failure(let failure): .init(failure)
                case .success(let answer): .init(SkeletonAnswer.verdict(answer))
                }
            }
        ]
    }

    /// What the operator does about a word of ``SkeletonAnswer``. Each word also has a row in `ReasonCodes.md`.
    static func advice(for reason: String) -> String? {
        switch reason {
        case "HTTP401", "HTTP403": "the service refuses the key: put the one that it shows into key_file"
        case _: nil
        }
    }

    private func load(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> SkeletonSettings {
        let bytes = try read(keyFile, key: "key_file", by: file)
        let word = bytes.prefix { $0 > 0x20 }
        guard (1...256).contains(word.count), word.allSatisfy({ $0 < 0x7f }),
            bytes[word.count...].allSatisfy({ $0 <= 0x20 })
        else {
            throw CredentialFault(key: "key_file", problem: "\(keyFile) is not one key of 1 to 256 letters")
        }
        return SkeletonSettings(
            url: try GatewayURL(url, key: "url"), egress: egress, key: String(decoding: word, as: UTF8.self),
            trust: try trust(in: caFile, by: file))
    }
}
