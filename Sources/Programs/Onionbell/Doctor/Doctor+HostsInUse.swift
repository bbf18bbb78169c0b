import Client
import Gateways
import HTTP1
import JSONCoding
import Node
import Reactor

extension Doctor {
    /// Returns the hosts that the running node has called, of those that are only asked if they are in use; none where no
    /// node runs.
    func hostsInUse(by app: Settings.App, _ probes: [GatewayProbe]) async -> Set<String> {
        guard probes.contains(where: \.isForUsedHost) else { return [] }
        let socket = StateDirectory.statusSocket(in: settings.stateDirectory)
        let request = HTTPRequest(method: "GET", path: "/status.json")
        let answer = try? await HTTPExchange.answer(
            to: request, host: "localhost", by: .direct(.unix(path: socket)), deadline: .seconds(10))
        let lanes = answer.flatMap { try? JSON($0.body) }?["gateways"]?.array ?? []
        let used = lanes.filter {
            $0["app"]?.string == app.name && ($0["attempts"]?.integer ?? 0) > 0
        }.compactMap { $0["environment"]?.string }
        if used.isEmpty {
            tell(
                .pass(
                    "\(app.name).gateway",
                    "the node has called no push service of a browser's maker yet, so none is asked"))
        }
        return Set(used)
    }
}
