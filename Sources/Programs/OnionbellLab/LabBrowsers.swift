import ArgumentParser
import Lab
import Processes
import Reactor
import TLS

/// The push servers of the lab: one with the manners of each browser's maker, and one as people run for themselves.
@EventLoop
final class LabBrowsers {
    private let servers: [(owner: String, manner: WebPushRules.Manner, server: GatewaySimulator)]
    /// The service at which a real Firefox subscribes, at Mozilla's.
    private let browserSide: SimulatedBrowserService

    init(_ context: TLSContext) throws {
        servers = try [
            ("Mozilla", .mozilla), ("Google", .google), ("Apple", .apple), ("UnifiedPush", .unifiedPush),
        ].map { ($0, $1, try GatewaySimulator(.webPush(WebPushRules($1)), context)) }
        browserSide = try SimulatedBrowserService(of: servers[0].server)
        for (owner, _, server) in servers {
            server.keepsBook = false
            server.onAccepted = { [unowned server] push in
                printLine(
                    "The browsers' server (\(owner)) accepted a notification of \(push.body.count) bytes")
                if let shown = server.shown(push) { printLine("A browser shows: \(shown.title)") }
            }
        }
    }

    /// Makes each server refuse each second request, in its own words.
    func refuse(_ refusal: WebPushRefusal) {
        for (_, manner, server) in servers {
            guard let fault = manner.fault(refusal) else { continue }
            server.faults = FaultScript([FaultRule(fault, when: .every(2))])
        }
    }

    /// Says what to put into a node's configuration, and how to pair.
    func tell(authority: String, torrc: String) {
        let hosts = servers.map { "\($0.server.endpoint)" }
        printLine(
            """
            for browsers add to apps:
              - {name: browsers, gateway: web_push, allowed_hosts: \(hosts), ca_file: \(authority)}
            """)
        for (owner, _, server) in servers {
            printLine(
                "to pair one of \(owner)'s: curl --cacert \(authority) \(server.url)/pair --data VAPID-KEY")
        }
        printLine(
            """
            for a real Firefox, in about:config: dom.push.serverURL = \(browserSide.url) and \
            dom.push.testing.allowInsecureServerURL = true
            onionbell init --defaults --web-push anonymous \
            --set apps[5].allowed_hosts=[\(hosts.joined(separator: ","))] \
            --set apps[5].ca_file=\(authority) --set tor.torrc=\(torrc)
            """)
    }

    func close() {
        for (_, _, server) in servers { server.close() }
        browserSide.close()
    }
}

extension WebPushRefusal: ExpressibleByArgument {}
