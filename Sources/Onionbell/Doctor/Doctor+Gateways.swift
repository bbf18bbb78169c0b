import Gateways
import Reactor

/// Apple and Google: found, who they must be, and ready to take what we send.
extension Doctor {
    func check(_ app: Settings.App, key: String) async {
        guard case .none = settings.proxy else {
            // Asking them from here would show the address that the proxy hides.
            return tell(
                .warn(
                    "\(app.name).gateway", "not asked, since gateways.proxy is set",
                    "onionbell status says what the running node hears from it"))
        }
        switch app.credentials {
        case .apns(let apns): await check(app.name, apns, key: key)
        case .fcm(let fcm): await check(app.name, fcm, key: key)
        }
    }

    private func check(_ app: String, _ apns: Settings.APNs, key: String) async {
        // Files that can't be used have been told before.
        guard let gateway = try? APNsSettings(apns, key: key) else { return }
        if case .certificate(let identity) = gateway.credentials {
            tell(
                Judgement.certificate(
                    app, end: identity.certificate.validUntil, now: EventLoop.unixMilliseconds / 1000))
        }
        for (isSandbox, url) in [(false, gateway.productionURL), (true, gateway.sandboxURL)] {
            let check = app + (isSandbox ? ".sandbox" : "")
            guard await isFound(url, check) else { continue }
            progress("asking \(url.host)")
            do throws(GatewaySetupError) {
                let finding = try await GatewayProbe.apns(gateway, isSandbox: isSandbox)
                tell(finding, check, host: url.host)
            } catch {
                tell(.fail("\(check).credentials", "\(error)", "put the right file there"))
            }
        }
    }

    private func check(_ app: String, _ fcm: Settings.FCM, key: String) async {
        guard let gateway = try? FCMSettings(fcm, key: key) else { return }
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

    private func isFound(_ url: GatewayURL, _ check: String) async -> Bool {
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
