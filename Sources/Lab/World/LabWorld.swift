import Client
import Clocks
import Crypto
import Encodings
import Reactor
import Tor
import Wire

/// The surroundings of a node: Apple and Google as stand-ins, with the phones they push to, and the files that the node is
/// configured with.
@EventLoop
package final class LabWorld {
    /// The topic of Bisq Remote, the app of Bisq 1.
    package static let topic = "bisqremote.joachimneumann.com"
    /// The topic of Bisq Connect, the app of Bisq 2.
    package static let connectTopic = "bisq.mobile.client.BisqConnect"

    package let directory: LabDirectory
    package let apple: GatewaySimulator
    package let google: GatewaySimulator
    /// The push service of browsers with Mozilla's manners; ``browsers`` has those with Google's and Apple's beside it.
    package let web: GatewaySimulator
    package let browsers: [(name: String, server: GatewaySimulator)]
    package let credentials: LabCredentials
    /// The push servers of browsers that the node may call.
    package var webPushHosts: [String]

    /// Makes the stand-ins and their credentials.
    ///
    /// - Parameter names: the names by which the stand-ins are known besides those of this machine.
    package init(names: [String] = []) throws {
        directory = try LabDirectory()
        credentials = try LabCredentials(names: names)
        let context = try credentials.serverContext()
        apple = try GatewaySimulator(
            .apns(credentials.apnsRules(topics: [LabWorld.topic, LabWorld.connectTopic])), context)
        google = try GatewaySimulator(.fcm(credentials.fcmRules()), context)
        web = try GatewaySimulator(.webPush(WebPushRules(.mozilla)), context)
        browsers = [
            ("Firefox", web),
            ("Chrome", try GatewaySimulator(.webPush(WebPushRules(.google)), context)),
            ("Safari", try GatewaySimulator(.webPush(WebPushRules(.apple)), context)),
        ]
        webPushHosts = browsers.map { "\($0.server.endpoint)" }
    }

    /// The state directory of the node.
    package var state: String { directory.path + "/state" }

    /// Returns the key by which browsers subscribe for the node; it has made it at its start.
    package func vapidKey() throws -> String {
        let pem = try LabDirectory.read(state + "/vapid-key")
        return Base64.encodeForURL(try SigningKey(pem: pem, algorithm: .es256).publicPoint())
    }

    /// Writes credentials and configuration; gives the configuration's path.
    ///
    /// - Parameters:
    ///   - tor: the lines under `tor:`, without indentation.
    ///   - more: further lines of the file.
    ///   - withWebPush: whether browsers are among the phones.
    ///   - apple, google: where the node is to look for them; `nil`: on this machine.
    package func configure(
        tor: [String], more: [String] = [], withWebPush: Bool = false, apple: String? = nil,
        google: String? = nil
    ) throws -> String {
        let path = directory.path
        let (apple, google) = (apple ?? self.apple.url, google ?? self.google.url)
        try LabDirectory.write(try credentials.providerKeyPEM(), to: "\(path)/AuthKey.p8")
        try LabDirectory.write(
            try credentials.serviceAccountFile(tokenURL: google + "/token"),
            to: "\(path)/service-account.json")
        try LabDirectory.write(try credentials.authorityPEM(), to: "\(path)/ca.pem")
        let text = """
            state_directory: \(state)
            tor:
            \(tor.map { "  \($0)\n" }.joined())
            apps:
            \(app("bisq-remote-ios", topic: LabWorld.topic, at: apple))
            \(app("bisq-connect-ios", topic: LabWorld.connectTopic, at: apple))
              - name: bisq-remote-android
                gateway: fcm
                service_account_file: service-account.json
                base_url: \(google)
                ca_file: ca.pem
            \(withWebPush ? webPushApp : "")
            defaults:
              ios: bisq-remote-ios
              android: bisq-remote-android
            http:
              bisq2:
                ios: bisq-connect-ios
            management:
              listen: unix:\(path)/management
            log:
              level: info
            \(more.joined(separator: "\n"))

            """
        try LabDirectory.write(Array(text.utf8), to: "\(path)/onionbell.yaml")
        return "\(path)/onionbell.yaml"
    }

    private var webPushApp: String {
        """
          - name: browsers
            gateway: web_push
            allowed_hosts: [\(webPushHosts.map { "\"\($0)\"" }.joined(separator: ", "))]
            ca_file: ca.pem
        """
    }

    private func app(_ name: String, topic: String, at apple: String) -> String {
        """
          - name: \(name)
            gateway: apns
            topic: \(topic)
            key_file: AuthKey.p8
            key_id: \(credentials.keyID)
            team_id: \(credentials.teamID)
            production_url: \(apple)
            sandbox_url: \(apple)
            ca_file: ca.pem
        """
    }

    /// Returns a waiter for the next push that a phone gets.
    package func nextPush(to phone: Phone) -> PushWaiter {
        nextPush(to: phone.pairingToken.deviceToken, on: phone.pairingToken.platform)
    }

    /// Returns a waiter for the next push that a device of any app gets.
    package func nextPush(to deviceToken: String, on platform: Platform) -> PushWaiter {
        let waiter = PushWaiter()
        (platform == .android ? google : apple).onPush(to: deviceToken) { waiter.take($0) }
        return waiter
    }

    /// Returns a waiter for the next push that a browser gets.
    package func nextPush(to browser: Browser) -> PushWaiter { nextPush(toPath: browser.path) }

    package func nextPush(toPath path: String) -> PushWaiter { web.nextPush(toPath: path) }

    package func close() async {
        apple.close()
        google.close()
        for browser in browsers { browser.server.close() }
        await directory.remove()
    }
}

extension GatewaySimulator {
    /// Returns a waiter for the next push that a browser gets.
    package func nextPush(to browser: Browser) -> PushWaiter { nextPush(toPath: browser.path) }

    func nextPush(toPath path: String) -> PushWaiter {
        let waiter = PushWaiter()
        onPush(to: path) { waiter.take($0) }
        return waiter
    }
}

/// Waits for one push.
@EventLoop
package final class PushWaiter {
    private var push: (push: AcceptedPush, at: MonotonicTime)?
    private var continuation: CheckedContinuation<Void, Never>?
    private var timer: Timer?

    func take(_ push: AcceptedPush) {
        guard self.push == nil else { return }
        self.push = (push, EventLoop.now)
        wake()
    }

    private func wake() {
        continuation?.resume()
        continuation = nil
    }

    /// Waits for the push, and returns it; `nil` if none came in time.
    package func wait(for duration: Duration) async -> (push: AcceptedPush, at: MonotonicTime)? {
        if push == nil {
            let timer = Timer { [unowned self] in wake() }
            timer.start(after: duration)
            self.timer = timer
            await withCheckedContinuation { continuation = $0 }
        }
        timer = nil
        return push
    }
}
