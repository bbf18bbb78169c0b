import ArgumentParser
import Crypto
import Encodings
import Foundation
import Lab
import Reactor
import TLS

/// `onionbell-bench gateway`: APNs as a stand-in, without a book, until it is killed.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "Play APNs on loopback.",
        discussion: """
            Writes to DIRECTORY: ca.pem, AuthKey.p8, onionbell.yaml for a node, and for h2load the files headers, \
            paths and body. Prints its URL once all is there.
            """)

    @Option(help: "Where the files go; must exist.") var directory: String
    @Option(help: "Milliseconds before each answer.") var delay = 0
    @Option(help: "Streams at once on a connection.") var streams = 1000
    @Option(help: "The node's peer_listen.") var peers = "127.0.0.1:29999"
    @Option(help: "The node's http_listen.") var http = "127.0.0.1:29980"
    @Option(help: "The node's doors.web_push.listen.") var webPush = "127.0.0.1:29981"
    @Option(help: "The node's storage.write_behind.") var writeBehind = 0.25
    @Option(help: "The node's doors.mailbox.readers; peers have the rest of 11,000.") var readers = 500
    @Option(help: "The node's storage.url; empty: a file.") var storageURL = ""
    @Option(help: "Further apps of Apple's in the node's settings.") var apps = 0
    @Flag(
        help:
            "Write how long requests took to come here, as DIRECTORY/timed-NUMBER, for loads that were told a number."
    )
    var timed = false
    @Flag(help: "The node's onion.proof_of_work is false.") var withoutWork = false
    @Option(help: "A place of the node's console.listen; empty: it has no console.") var console = ""
    @Option(help: "tor's control port for the node.") var control = "127.0.0.1:9051"
    @Option(help: "tor's cookie file for the node.") var cookie = ""

    static let topic = "bisqremote.joachimneumann.com"

    func run() async throws {
        let timed = timed ? TimedPushes() : nil
        let simulators = try await start(timed)
        defer { withExtendedLifetime(simulators) {} }
        tell(await simulators[0].url)
        while true {
            try await Task.sleep(for: .milliseconds(200))
            try await timed?.write(to: directory)
        }
    }

    @EventLoop
    private func start(_ timed: TimedPushes?) throws -> [GatewaySimulator] {
        let credentials = try LabCredentials()
        var rules = credentials.apnsRules(topics: [GatewayCommand.topic])
        rules.streamLimit = streams
        let simulator = try GatewaySimulator(.apns(rules), try credentials.serverContext())
        simulator.keepsBook = false
        if let timed { simulator.onAccepted = { timed.saw($0.deviceToken) } }
        if delay > 0 { simulator.faults = FaultScript([FaultRule(.delay(.milliseconds(delay)))]) }
        try write(try credentials.authorityPEM(), "ca.pem")
        try write(try credentials.providerKeyPEM(), "AuthKey.p8")
        // Only for its access tokens: a node that gets none signs again and again.
        let google = try GatewaySimulator(.fcm(credentials.fcmRules()), try credentials.serverContext())
        try write(try credentials.serviceAccountFile(tokenURL: google.url + "/token"), "account.json")
        let browsers = try pushServer(credentials.serverContext())
        try write(configuration(simulator.url, credentials, browsers), "onionbell.yaml")
        try write(try headers(credentials), "headers")
        try write((0..<UInt64(10_000)).map { "/3/device/\(deviceToken($0))\n" }.joined(), "paths")
        try write(
            #"{"encrypted":"\#(RequestTemplate.message)","aps":{"alert":{"loc-key":"notification"},"#
                + #""content-available":1,"mutable-content":1}}"#, "body")
        return [simulator, browsers, google]
    }

    /// One of browsers, where every path has a subscription. Writes how the tokens for it begin and end.
    @EventLoop
    private func pushServer(_ context: TLSContext) throws -> GatewaySimulator {
        var rules = WebPushRules(.unifiedPush)
        rules.knownKey = ""
        rules.streamLimit = streams
        let server = try GatewaySimulator(.webPush(rules), context)
        server.keepsBook = false
        // One pair of keys for all: what a message costs does not depend on whose they are.
        let mark = "TOKEN"
        let parts = try Browser(at: server.url, path: "/\(mark)").token.components(separatedBy: mark)
        try write("\(parts[0])\n\(parts[1...].joined(separator: mark))\n", "browsers")
        return server
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try LabDirectory.write(bytes, to: "\(directory)/\(name)")
    }

    private func write(_ text: String, _ name: String) throws { try write(Array(text.utf8), name) }

    /// The node's limits are out of the way. Android's gateway is a closed port: what is sent there waits.
    @EventLoop
    private func configuration(_ url: String, _ credentials: LabCredentials, _ browsers: GatewaySimulator)
        -> String
    {
        """
        state_directory: \(directory)/state
        tor:
          mode: system
          control: \(control)
          cookie_file: \(cookie)
        onion:
          peer_listen: \(peers)
          http_listen: \(http)
          proof_of_work: \(!withoutWork)
        apps:
        \(app("ios", topic: GatewayCommand.topic, url, credentials))
        \((0..<apps).map { app("app-\($0)", topic: "a\($0).\(GatewayCommand.topic)", url, credentials) }.joined(separator: "\n"))
          - name: android
            gateway: fcm
            service_account_file: account.json
            base_url: https://127.0.0.1:9
            ca_file: ca.pem
          - name: browsers
            gateway: web_push
            allowed_hosts: ["\(browsers.endpoint)"]
            ca_file: ca.pem
          - name: mailboxes
            gateway: mailbox
        doors:
          web_push:
            listen: ["\(webPush)"]
            ios: ios
            requests: 10000
            rate: 1000000
          mailbox:
            listen: ["unix:\(directory)/mailboxes"]
            readers: \(readers)
            rate: 1000000
        defaults:
          ios: ios
          android: android
        # All that may be open together is within what a machine lets a process have.
        http:
          connections: 500
        peers:
          connections: \(11_000 - readers)
          frames_per_second: 65535
          frames_per_ten_seconds: 65535
        circuits:
          frames_per_second: 0
          bytes_per_second: 0
        limits:
          token_rate: 1000000
          waiting: 10000000
          waiting_bytes: 10000000000
        storage:
          write_behind: \(writeBehind)
          url: "\(storageURL)"
        management:
          listen: unix:\(directory)/management
        console:
          listen: [\(console.isEmpty ? "" : "\"\(console)\"")]

        """
    }

    @EventLoop
    private func app(_ name: String, topic: String, _ url: String, _ credentials: LabCredentials) -> String {
        """
          - name: \(name)
            gateway: apns
            topic: \(topic)
            key_file: AuthKey.p8
            key_id: \(credentials.keyID)
            team_id: \(credentials.teamID)
            production_url: \(url)
            sandbox_url: \(url)
            ca_file: ca.pem
        """
    }

    /// What the node sends with each notification, one field a line.
    private func headers(_ credentials: LabCredentials) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let signed =
            Base64.encodeForURL(Array(#"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8)) + "."
            + Base64.encodeForURL(Array(#"{"iss":"\#(credentials.teamID)","iat":\#(now)}"#.utf8))
        let signature = Base64.encodeForURL(try credentials.providerKey.sign(Array(signed.utf8)))
        return """
            :method: POST
            authorization: bearer \(signed).\(signature)
            apns-topic: \(GatewayCommand.topic)
            apns-push-type: alert
            apns-priority: 10
            apns-expiration: \(now + 86400)
            apns-id: 01234567-89ab-cdef-0123-456789abcdef
            apns-collapse-id: 01234567-89ab-cdef-0123-456789abcdef
            """
    }
}
