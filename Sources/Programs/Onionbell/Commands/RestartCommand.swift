import ArgumentParser
import Client
import JSONCoding
import Processes
import Terminal

struct RestartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract: "Restart the running node in place, so that nobody notices.",
        discussion: """
            For changed settings and a new version. First the new program says whether it can start; if not, the node goes \
            on as it is. Then the node answers what it has taken, and becomes the new program. Whoever connects meanwhile \
            waits. Tor keeps the onion service, its descriptor and its introduction points, unless what tor is told has \
            changed. If the new settings fail all the same, the node goes back to those from before, and says so in its log.

            Example: onionbell restart

            Exit status: 0 the node has restarted, 1 it goes on as it was, 3 it does not answer yet, 69 no node runs.
            """)

    @OptionGroup var config: ConfigOption

    func run() async throws {
        let socket = try NodeSocket(config)
        let answer = try await socket.post("/api/v1/restart", [])
        guard answer.status == 202 else { throw NodeSocket.failure(answer, refusal: 1) }
        let began = ContinuousClock.now
        while ContinuousClock.now - began < .seconds(60) {
            // A program that has run for a shorter time than this command has waited.
            if let answer = try? await socket.get("/api/v1/state"), let state = try? JSON(answer.body),
                let uptime = seconds(state["uptime"])
            {
                let waited = (ContinuousClock.now - began) / .seconds(1)
                if uptime < waited {
                    let checks = state["checks"]?.array ?? []
                    if let fault = checks.first(where: {
                        $0["name"]?.string == "settings" && $0["level"]?.string == "failing"
                    }) {
                        throw fail(plainText(fault["state"]?.string ?? ""), status: 1)
                    }
                    return printLine(sentence(of: state["restart"]))
                }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw fail("the node does not answer yet: see its log", status: 3)
    }

    private func sentence(of restart: JSON?) -> String {
        guard let restart, let unserved = seconds(restart["unserved"]),
            case .integer(let waited)? = restart["waited"]
        else { return "started anew, and not in place: the node's log says why" }
        let time = "restarted in place in \((unserved * 10).rounded() / 10) s"
        return switch waited {
        case 0: "\(time); nobody had to wait"
        case 1: "\(time); one connection waited"
        case _: "\(time); \(waited) connections waited"
        }
    }

    private func seconds(_ value: JSON?) -> Double? {
        switch value {
        case .integer(let value): Double(value)
        case .number(let value): value
        case _: nil
        }
    }
}
