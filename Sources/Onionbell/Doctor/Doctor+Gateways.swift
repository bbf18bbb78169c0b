import Gateways
import Node
import Reactor
import Relay

/// Apple and Google: found, who they must be, and ready to take what we send.
extension Doctor {
    func check(_ app: Settings.App, key: String) async {
        guard let egress else {
            // Asking from here would show the address that tor hides.
            return tell(
                .warn(
                    "\(app.name).gateway", "not asked: gateways.proxy is tor, and no tor could be used",
                    "mend what is said of tor above; then run this again"))
        }
        switch app.credentials {
        case .apns(let apns): await check(app.name, apns, key: key, by: egress.forApp(app.name))
        case .fcm(let fcm): await check(app.name, fcm, key: key, by: egress.forApp(app.name))
        }
    }

    /// The way that the node takes.
    private var egress: Egress? {
        switch settings.proxy {
        case .none: .direct
        case .socks5(let proxy): .through(proxy)
        case .tor: torSocks.map { socks in .tor { socks } }
        }
    }

    private func check(_ app: String, _ apns: Settings.APNs, key: String, by egress: Egress) async {
        // Files that can't be used have been told before.
        guard var gateway = try? APNsSettings(apns, key: key) else { return }
        gateway.egress = egress
        if case .certificate(let identity) = gateway.credentials {
            tell(
                Judgement.certificate(
                    app, end: identity.certificate.validUntil, now: EventLoop.unixMilliseconds / 1000))
        }
        for (host, url) in [(LaneHost.production, gateway.productionURL), (.sandbox, gateway.sandboxURL)] {
            let check = app + (host == .sandbox ? ".sandbox" : "")
            guard await isFound(url, check) else { continue }
            progress("asking \(url.host)")
            do throws(GatewaySetupError) {
                let finding = try await GatewayProbe.apns(gateway, at: host)
                tell(finding, check, host: url.host)
            } catch {
                tell(.fail("\(check).credentials", "\(error)", "put the right file there"))
            }
        }
    }

    private func check(_ app: String, _ fcm: Settings.FCM, key: String, by egress: Egress) async {
        guard var gateway = try? FCMSettings(fcm, key: key) else { return }
        gateway.egress = egress
        guard await isFound(gateway.baseURL, app) else { return }
        progress("asking \(gateway.baseURL.host)")
        do throws(GatewaySetupError) {
            tell(try await GatewayProbe.fcm(gateway), app, host: gateway.baseURL.host)
        } catch {
            tell(.fail("\(app).credentials", "\(error)", "put the right file there"))
        }
    }

    private func tell(_ finding: GatewayProbe.Finding, _ check: String, host: String) {
        for finding in Judgement.gateway(check, host: host, finding) { tell(finding) }
    }

    /// A proxy looks names up itself.
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
                    "does this machine look names up (/etc/resolv.conf)? is the host in the configuration right?"
                ))
            return false
        }
    }
}
