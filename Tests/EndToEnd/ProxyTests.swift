import Client
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Wire

/// The built node behind a real nginx.
@EventLoop
@Suite(.serialized) struct ProxyTests {
    /// Reads a mailbox from one address by way of nginx, and says that it comes from another one.
    private func reader(
        of mailbox: StagedMailbox, at port: UInt16, from address: String, saying forged: String
    ) async throws -> LabProgram {
        let reader = try LabProgram([
            "curl", "-sN", "--interface", address, "-u", "phone:\(mailbox.tokens["phone"] ?? "")", "-w",
            "\n%{http_code}\n", "-H", "X-Forwarded-For: \(forged)", "-H", "Forwarded: for=\(forged)",
            "http://127.0.0.1:\(port)/\(mailbox.topic)/json",
        ])
        await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains(#""open""#) } }
        #expect(reader.exit == nil || reader.lines.last == "429", "\(reader.lines)")
        return reader
    }

    @Test(
        .enabled(if: LabNginx.isInstalled, "nginx is not installed: Deploy/tools/dependencies test"),
        arguments: ["X-Forwarded-For", "Forwarded"])
    func theLimitOfAnAddressIsEachClientsAndNotTheProxys(field: String) async throws {
        let ports = try freePorts(3)
        let directory = try LabDirectory()
        let backs = ["127.0.0.1:\(ports[0])", "unix:\(directory.path)/doors"]
        let stage = try LoopbackStage { text in
            text.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
                .replacing(
                    "\nhttp:\n",
                    with: "\nhttp:\n  client_address_header: \(field)\n  trusted_proxies: [127.0.0.1]\n")
                    + """
                    doors:
                      https: {connections_per_address: 2}
                      mailbox: {listen: \(backs)}

                    """
        }
        try await stage.start()
        let mailbox = try await StagedMailbox.add(to: stage.configuration)
        await stage.logged("mailbox.changed")
        let servers = zip(backs, ports[1...]).map { back, port in
            """
            upstream back\(port) { server \(back); keepalive 4; }
            server {
                listen 127.0.0.1:\(port);
                location / { proxy_pass http://back\(port); \(LabNginx.forwarding) }
            }
            """
        }
        let nginx = try await LabNginx(servers.joined(separator: "\n"), in: directory.path)

        var served: [LabProgram] = []
        for (index, port) in ports[1...].enumerated() {
            let clients = ["127.0.0.\(10 + index)", "127.0.0.\(20 + index)"]
            for client in clients {
                // It claims to be many, another one, the proxy itself.
                for forged in ["192.0.2.1, 192.0.2.2", clients[0], clients[1], "127.0.0.1"] {
                    let reader = try await reader(of: mailbox, at: port, from: client, saying: forged)
                    if reader.exit == nil { served.append(reader) }
                }
            }
            #expect(served.count == 4 * (index + 1), "\(stage.node.lines)")
        }
        // What they hold open is theirs, and brings all that comes.
        let peer = try await stage.dial()
        let request = try BisqSender(to: mailbox.pairingToken).request(
            for: PhoneText(sentDate: 1, title: "t", message: "", kind: .trade))
        #expect(try await peer.send(request).status == .stored)
        for reader in served {
            await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains(#""message""#) } }
            #expect(reader.exit == nil, "\(reader.lines)")
            await reader.stop()
        }
        #expect(!stage.node.lines.contains { $0.contains("endpoint.client_unknown") })
        peer.close()
        await nginx.stop()
        await stage.close()
        await directory.remove()
    }
}
