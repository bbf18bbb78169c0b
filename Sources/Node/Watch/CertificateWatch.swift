import Logging
import Reactor

/// Warns once a day of each certificate that comes to its end.
@EventLoop
final class CertificateWatch {
    private let gateways: [GatewayAssembly.AppGateways]
    private let listeners: DoorListeners
    private let log: Logger
    private var alarms: [String: CertificateAlarm] = [:]
    private let timer = Timer()

    init(_ gateways: [GatewayAssembly.AppGateways], _ listeners: DoorListeners, log: Logger) {
        (self.gateways, self.listeners, self.log) = (gateways, listeners, log)
        timer.action = { [unowned self] in look() }
    }

    func look() {
        listeners.proveCertificate()
        let now = EventLoop.unixMilliseconds / 1000
        for (app, end) in ends where alarms[app, default: .init()].takeWarning(end: end, now: now) {
            log.warning(
                "certificate.expiring",
                metadata: ["app": "\(app)", "state": "\(CertificateAlarm.state(end: end, now: now))"])
        }
        timer.start(after: .seconds(3600))
    }

    func stop() { timer.stop() }

    /// Seconds since 1970, of the apps that have a certificate and of our own.
    var ends: [(app: String, end: Int64)] {
        var ends = gateways.compactMap { gateways in
            gateways.lanes.first?.gateway.figures.certificateEnd.map { (gateways.app, $0) }
        }
        if let end = listeners.certificateEnd { ends.append(("https", end)) }
        return ends
    }
}
