import Foundation

/// The doors for HTTP beside what does nothing, under the same load in the same round.
extension Rows {
    /// What is asked of a door, and of nghttpx.
    private struct DoorLoad {
        let name: String
        let clients: Int
        /// Milliseconds until the gateway answers.
        var delay = 0
        /// A second; 0: each client sends when it has its answer.
        var rate = 0
        let count: Int
    }

    private enum Door: String, CaseIterable {
        case post = "POST /v1"
        case webPush = "Web Push"

        var form: HTTPCommand.Form { self == .post ? .post : .webPush }
    }

    /// The gateway answers at once.
    mutating func measureDoors() async throws {
        let load = DoorLoad(name: "doors", clients: 32, count: isQuick ? 10_000 : 40_000)
        let measured = try await measure(load)
        for (door, figures) in measured.doors {
            let name = "\(load.name), \(door.rawValue)"
            results.add(
                "\(name), CPU to nghttpx", "times", figures.cpu / measured.proxy.cpu)
            // Of more is better: the other way round.
            results.add(
                "\(name), nghttpx's rate to its", "times", measured.proxy.perSecond / figures.perSecond)
            results.add(
                "\(name), p99 to nghttpx", "times", figures.p99 / measured.proxy.p99)
            if let nginx = measured.answering {
                results.add("\(name), CPU to nginx", "times", figures.cpu / nginx.cpu)
            }
        }
    }

    /// As it is in life.
    mutating func measureDistantGateway() async throws {
        let closed = DoorLoad(
            name: "40 ms, 200 at once", clients: 200, delay: 40, count: isQuick ? 10_000 : 40_000)
        let measured = try await measure(closed)
        for (door, figures) in measured.doors {
            let name = "\(closed.name), \(door.rawValue)"
            results.add("\(name), CPU to nghttpx", "times", figures.cpu / measured.proxy.cpu)
            results.add("\(name), p50 less the gateway's time", "ms", figures.median - 40)
        }
        results.add("\(closed.name), nghttpx, p50 less the gateway's time", "ms", measured.proxy.median - 40)

        let open = DoorLoad(
            name: "40 ms, 500/s", clients: 200, delay: 40, rate: 500, count: isQuick ? 2_500 : 10_000)
        let paced = try await measure(open)
        for (door, figures) in paced.doors {
            let name = "\(open.name), \(door.rawValue)"
            results.add(
                "\(name), CPU to nghttpx", "times", figures.cpu / paced.proxy.cpu)
        }
    }

    private struct Measured {
        var doors: [(door: Door, figures: Bench.DoorFigures)]
        var proxy: Bench.DoorFigures
        /// Only where the gateway answers at once.
        var answering: Bench.DoorFigures?
    }

    private mutating func measure(_ load: DoorLoad) async throws -> Measured {
        let arguments = [
            "--clients", "\(load.clients)", "--rate", "\(load.rate)", "--count", "\(load.count)",
        ]
        let gate = bench
        var used: [(door: Door, used: NodeUnderTest.Used)] = []
        let measured = try await bench.withNode(delay: load.delay) { node in
            var doors: [(door: Door, figures: Bench.DoorFigures)] = []
            for door in Door.allCases {
                let to = door == .post ? gate.httpEndpoint : gate.webPushEndpoint
                let request = ["http", "--to", to, "--form", door.form.rawValue]
                _ = try await node.under(request + ["--clients", "\(load.clients)", "--count", "1000"])
                let (report, cost) = try await node.under(request + arguments)
                doors.append((door, Bench.DoorFigures(report, cpu: cost.cpu)))
                used.append((door, cost))
            }
            return Measured(
                doors: doors,
                proxy: try await gate.measure(.nghttpx, gateway: node.gateway, arguments),
                answering: load.delay == 0
                    ? try await gate.measure(.nginx, gateway: node.gateway, arguments) : nil)
        }
        for (door, cost) in used {
            let name = "\(load.name), \(door.rawValue)"
            results.add(
                "\(name), written", "B/notif.", cost.written / Double(load.count))
            results.add("\(name), of its CPU the kernel's", "%", 100 * cost.system / cost.cpu)
            results.add("\(name), of its CPU the store thread's", "%", 100 * cost.store / cost.cpu)
        }
        for (door, figures) in measured.doors { add(figures, of: load, "\(door.rawValue)") }
        add(measured.proxy, of: load, "nghttpx")
        if let nginx = measured.answering { add(nginx, of: load, "nginx, answers itself") }
        return measured
    }

    private mutating func add(_ figures: Bench.DoorFigures, of load: DoorLoad, _ name: String) {
        let name = "\(load.name), \(name)"
        results.add(name, "CPU s/10k", perTenThousand(figures.cpu, load.count))
        if load.rate == 0 { results.add("\(name), wall clock", "1/s", figures.perSecond) }
        results.add("\(name), p50", "ms", figures.median)
        results.add("\(name), p99", "ms", figures.p99)
    }
}
