import Gateways
import Node
import Reactor
import Relay
import Terminal

/// The push services: found, who they must be, and ready to take what we send.
extension Doctor {
    func check(_ app: Settings.App) async {
        guard let egress = app.settings.needsTor ? torEgress : egress else {
            // Asking from here would show the address that tor hides.
            return tell(
                .warn(
                    "\(app.name).gateway", "not tested: its way goes through tor, and no tor can be used",
                    "fix the tor problem above; then run this again"))
        }
        // Files that can't be used were reported before.
        guard
            let probes = try? app.settings.probes(by: egress.forApp(app.name), reading: CredentialFiles.read)
        else { return }
        if let end = probes.first?.certificateEnd {
            tell(Judgement.certificate(app.name, end: end, now: EventLoop.unixMilliseconds / 1000))
        }
        guard app.settings.upstreams.isEmpty else {
            for probe in probes { await check(relay: probe, of: app) }
            return
        }
        let used = await hostsInUse(by: app, probes)
        for probe in probes where !probe.isForUsedHost || used.contains(probe.host.name) {
            let check = LaneID(app: app.name, host: probe.host).name
            guard await isFound(probe.url, check) else { continue }
            progress("asking \(probe.url.host)")
            do throws(GatewaySetupError) {
                let finding = try await probe.run()
                let advice = type(of: app.settings).advice
                let findings = Judgement.gateway(
                    check, host: probe.url.host, isSecure: probe.url.isSecure, finding, advice: advice)
                for finding in findings { tell(finding) }
            } catch {
                tell(.fail("\(check).credentials", "\(error)", "replace the file by the right one"))
            }
        }
    }

    /// Checks another relay, which the node hands notifications on to.
    private func check(relay probe: GatewayProbe, of app: Settings.App) async {
        let check = "\(app.name).relay"
        guard ownAddress()?.description != probe.url.host else {
            return tell(
                .fail(
                    check, "\(probe.url.host) is this node's own address",
                    "name another relay in url, or leave it out for Bisq's own"))
        }
        progress("asking \(probe.url.host)")
        let start = ContinuousClock.now
        do throws(GatewaySetupError) {
            let finding = try await probe.run()
            tell(
                Judgement.relay(
                    check, host: probe.url.authority, finding, after: .now - start,
                    advice: type(of: app.settings).advice))
        } catch {
            tell(.fail(check, "\(error)", "replace ca_file by the right one"))
        }
    }

    private var torEgress: Egress? { torSocks.map { socks in .tor { socks } } }

    /// The way that the node takes.
    var egress: Egress? {
        switch settings.proxy {
        case .none: .direct
        case .socks5(let proxy): .through(proxy)
        case .tor: torEgress
        }
    }

    /// Whether the gateway's host name has an address, with a finding about it. True behind a proxy, which
    /// looks names up itself.
    private func isFound(_ url: GatewayURL, _ check: String) async -> Bool {
        guard settings.proxy == .none else { return true }
        do {
            let count = try await Stream.addresses(of: url.endpoint, deadline: .seconds(15)).count
            tell(.pass("\(check).name", "\(url.host) has \(count) address\(count == 1 ? "" : "es")"))
            return true
        } catch {
            tell(
                .fail(
                    "\(check).name", "\(error)",
                    "can this machine resolve names (/etc/resolv.conf)? is the host in the configuration right?"
                ))
            return false
        }
    }
}
