import LabParts
import Logging
import Reactor

@testable import Tor

/// A tor that has every service it is given, and says of circuits what a test wants.
@EventLoop
final class ServingTor {
    /// The commands as they came.
    private(set) var commands: [String] = []
    /// Called with each command before it is answered; returns an answer of a test's own. An empty one closes the
    /// connection.
    var instead: @EventLoop (_ command: String) -> String? = { _ in nil }
    /// Lines of `GETINFO circuit-status`.
    var circuits: [String] = []
    /// What tor tells with its next answer to a question how it is.
    var events: [String] = []
    /// The place at which it takes SOCKS connections.
    var socks = ""

    private let serviceIDs: [String]
    private var fake: FakeTor!
    private var added = 0

    /// Makes a tor for services with these addresses, which it is given in this order.
    init(for addresses: [OnionAddress]) throws {
        serviceIDs = addresses.map(\.serviceID)
        fake = try FakeTor { [unowned self] line in
            commands.append(line)
            if let own = instead(line) { return own.isEmpty ? nil : own }
            return answer(to: line)
        }
    }

    var source: OnionPresenceSettings.Source { .running(control: fake.control, ControlCredentials()) }

    /// The line of a circuit on which a client talks to the first service.
    func client(_ circuit: Int) -> String {
        "\(circuit) BUILT PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=\(serviceIDs[0])"
    }

    /// Whether tor was asked to close a circuit.
    func hasClosed(_ circuit: Int) -> Bool { commands.contains("CLOSECIRCUIT \(circuit)") }

    private func answer(to line: String) -> String {
        switch line.split(separator: " ").first ?? "" {
        case "PROTOCOLINFO": return FakeTor.protocolInfo()
        case "ADD_ONION":
            defer { added += 1 }
            return "250-ServiceID=\(serviceIDs[added % serviceIDs.count])\r\n250 OK\r\n"
        case "GETINFO": return information(line)
        default: return "250 OK\r\n"
        }
    }

    private func information(_ line: String) -> String {
        let bootstrap = #"250-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done""#
        switch line {
        case "GETINFO status/bootstrap-phase": return "\(bootstrap)\r\n250 OK\r\n"
        case "GETINFO net/listeners/socks": return "250-net/listeners/socks=\(socks)\r\n250 OK\r\n"
        case "GETINFO version": return "250-version=0.4.9.11\r\n250 OK\r\n"
        case "GETINFO circuit-status":
            return "250+circuit-status=\r\n\(circuits.map { $0 + "\r\n" }.joined()).\r\n250 OK\r\n"
        case _ where line.hasPrefix("GETINFO version "):
            defer { events = [] }
            return "250-version=0.4.9.11\r\n\(bootstrap)\r\n250-status/circuit-established=1\r\n"
                + "250-network-liveness=up\r\n250 OK\r\n" + events.map { "650 \($0)\r\n" }.joined()
        case _: return "552 Unrecognized key\r\n"
        }
    }
}
