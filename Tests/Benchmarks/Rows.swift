import Foundation
import Reactor

/// The rows of the table: what is done for each, and what of it is written down.
@EventLoop
struct Rows {
    struct Row {
        let name: String
        /// How many times at most.
        let rounds: Int
        let measure: @EventLoop (inout Rows) async throws -> Void
    }

    var results: Results
    let bench: Bench
    let isQuick: Bool
    let listsStatements: Bool
    /// How long a console is left alone before its memory is looked at.
    let consoleRest: Duration

    init(_ bench: Bench, isQuick: Bool, listsStatements: Bool, consoleRest: Duration) {
        self.consoleRest = consoleRest
        self.bench = bench
        self.isQuick = isQuick
        self.listsStatements = listsStatements
        results = Results(isQuick: isQuick)
    }

    static let all = [
        Row(name: "gateway", rounds: 9) { try await $0.measureGatewayLeg() },
        Row(name: "peers 10 x 64", rounds: 9) { try await $0.measurePeers(10, window: 64) },
        Row(name: "instructions", rounds: 1) { try await $0.measureInstructions() },
        Row(name: "http", rounds: 9) { try await $0.measureHTTP() },
        Row(name: "doors", rounds: 5) { try await $0.measureDoors() },
        Row(name: "40 ms", rounds: 3) { try await $0.measureDistantGateway() },
        Row(name: "web push", rounds: 5) { try await $0.measureWebPush() },
        Row(name: "rate", rounds: 3) { try await $0.measureRate() },
        Row(name: "slow", rounds: 3) { try await $0.measureSlowGateway() },
        Row(name: "idle", rounds: 1) { try await $0.measureIdle() },
        Row(name: "100 apps", rounds: 3) { try await $0.measureStartWithApps() },
        Row(name: "apps, pages", rounds: 3) { try await $0.measurePagesWithApps() },
        Row(name: "readers", rounds: 1) { try await $0.measureReaders() },
        Row(name: "peers 1 x 64", rounds: 3) { try await $0.measurePeers(1, window: 64) },
        Row(name: "peers 100 x 8", rounds: 3) { try await $0.measurePeers(100, window: 8) },
        Row(name: "peers 1000 x 1", rounds: 3) { try await $0.measurePeers(1000, window: 1) },
        Row(name: "waiting", rounds: 1) { try await $0.measureWaiting() },
        Row(name: "postgresql, one", rounds: 5) { try await $0.measureDatabase() },
        Row(name: "postgresql, two", rounds: 3) { try await $0.measureTwoNodes() },
        Row(name: "postgresql, waiting", rounds: 1) { try await $0.measureWaitingInDatabase() },
        Row(name: "disk", rounds: 3) { try await $0.measureDisk() },
        Row(name: "tor", rounds: 1) { try await $0.measureTor() },
        Row(name: "life", rounds: 1) { try await $0.measureLife() },
        Row(name: "console, memory", rounds: 1) { try await $0.measureConsoleMemory() },
        Row(name: "console, flood", rounds: 1) { try await $0.measureConsoleFlood() },
        Row(name: "binary", rounds: 1) { try await $0.measureBinary() },
    ]

    /// Measures a row once, and looks whether the cores were the benchmark's meanwhile.
    mutating func run(_ row: Row) async throws {
        var round = self
        round.results = Results(isQuick: isQuick)
        let before = try CoreTime.now
        try await row.measure(&round)
        let others = try CoreTime.now.others(since: before)
        let isStarved = others > CoreTime.mostOfOthers
        if isStarved { say("starved: other work had \(Int(100 * others)) % of the two cores") }
        results.take(round.results, isStarved: isStarved)
    }

    func perTenThousand(_ seconds: Double, _ count: Int) -> Double {
        seconds * 10_000 / Double(count)
    }

    // MARK: Rows

    mutating func measureGatewayLeg() async throws {
        let count = isQuick ? 50_000 : 200_000
        let (own, yardstick) = try await bench.withGateway { gateway in
            let yardstick = try await Yardstick(gateway: gateway).seconds(count: count)
            let lines = try await bench.tool(
                ["send", "--directory", gateway.directory, "--url", gateway.url, "--count", "\(count)"],
                core: .measured
            ).finish()
            return (Double(lines.last ?? "") ?? .nan, yardstick)
        }
        results.add("gateway leg, h2load", "CPU s/10k", perTenThousand(yardstick, count))
        results.add("gateway leg, ours", "CPU s/10k", perTenThousand(own, count))
        results.add("gateway leg, ours to h2load", "times", own / yardstick)
    }

    mutating func measurePeers(_ peers: Int, window: Int) async throws {
        let count = isQuick ? 30_000 : 60_000
        let name = "peers \(peers) x \(window)"
        let (report, used, yardstick) = try await bench.withNode { node in
            // The first ones meet an empty allocator and a cold cache.
            _ = try await node.under(peerArguments(peers, window, count: 2_000))
            let (report, used) = try await node.under(peerArguments(peers, window, count: count))
            return (report, used, try await Yardstick(gateway: node.gateway).seconds(count: count))
        }
        results.add(name, "CPU s/10k", perTenThousand(used.cpu, count))
        results.add("\(name) to h2load", "times", used.cpu / yardstick)
        results.add("\(name), of it system", "CPU s/10k", perTenThousand(used.system, count))
        results.add("\(name), of it store thread", "CPU s/10k", perTenThousand(used.store, count))
        results.add("\(name), wall clock", "1/s", Double(count) / report.seconds)
        guard peers == 10 else { return }
        results.add("\(name), VmRSS", "MB", used.resident / 1000)
        results.add("\(name), VmHWM", "MB", used.longestResident / 1000)
        results.add("\(name), written", "B/notif.", used.written / Double(count))
    }

    func peerArguments(_ peers: Int, _ window: Int, count: Int, _ more: [String] = []) -> [String] {
        ["peers", "--to", bench.peerEndpoint, "--peers", "\(peers)", "--window", "\(window)"]
            + ["--count", "\(count)"] + more
    }

    mutating func measureHTTP() async throws {
        let count = isQuick ? 10_000 : 30_000
        let (post, get, yardstick) = try await bench.withNode { node in
            let arguments = ["http", "--to", bench.httpEndpoint, "--count"]
            _ = try await node.under(arguments + ["1000"])
            let post = try await node.under(arguments + ["\(count)", "--form", "post"]).used
            let get = try await node.under(arguments + ["\(count)", "--form", "get"]).used
            return (post, get, try await Yardstick(gateway: node.gateway).seconds(count: count))
        }
        results.add("http POST /v1, 64 clients", "CPU s/10k", perTenThousand(post.cpu, count))
        results.add("http POST /v1 to h2load", "times", post.cpu / yardstick)
        results.add("http GET /relay, 64 clients", "CPU s/10k", perTenThousand(get.cpu, count))
    }

    /// What a message to a browser costs more than one to Apple: a key agreement, keys made of it, and the encryption.
    mutating func measureWebPush() async throws {
        let count = isQuick ? 5_000 : 15_000
        let (apple, browsers) = try await bench.withNode { node in
            let awaiting = ["--awaiting", "1"]
            let file = ["--browsers", "\(node.gateway.directory)/browsers"]
            _ = try await node.under(peerArguments(10, 8, count: 1_000, awaiting))
            _ = try await node.under(peerArguments(10, 8, count: 1_000, awaiting + file))
            let apple = try await node.under(peerArguments(10, 8, count: count, awaiting)).used.cpu
            return (apple, try await node.under(peerArguments(10, 8, count: count, awaiting + file)).used.cpu)
        }
        results.add("web push, 10 peers", "CPU s/10k", perTenThousand(browsers, count))
        results.add(
            "web push, more than Apple", "us of CPU", (browsers - apple) / Double(count) * 1e6)
    }

    mutating func measureRate() async throws {
        let count = isQuick ? 20_000 : 50_000
        let (report, used) = try await bench.withNode { node in
            _ = try await node.under(peerArguments(10, 64, count: 2_000))
            return try await node.under(peerArguments(10, 64, count: count, ["--rate", "5000"]))
        }
        results.add("rate 5,000/s", "CPU s/10k", perTenThousand(used.cpu, count))
        results.add("rate 5,000/s, receipt p50", "ms", report.receipt?.median ?? .nan)
        results.add("rate 5,000/s, receipt p99", "ms", report.receipt?.p99 ?? .nan)
        results.add("rate 5,000/s, accepted p50", "ms", report.outcome?.median ?? .nan)
        results.add("rate 5,000/s, accepted p99", "ms", report.outcome?.p99 ?? .nan)
    }

    /// 200 in flight, each until the gateway has answered it.
    mutating func measureSlowGateway() async throws {
        let count = isQuick ? 20_000 : 40_000
        for (name, delay) in [("slow: answers at once", 0), ("slow: answers after 20 ms", 20)] {
            let (used, yardstick) = try await bench.withNode(delay: delay, streams: 200) { node in
                _ = try await node.under(peerArguments(10, 20, count: 2_000))
                let load = peerArguments(10, 20, count: count, ["--awaiting", "1"])
                let used = try await node.under(load).used
                return (used, try await Yardstick(gateway: node.gateway).seconds(count: count, window: 200))
            }
            results.add(name, "CPU s/10k", perTenThousand(used.cpu, count))
            results.add("\(name), h2load", "CPU s/10k", perTenThousand(yardstick, count))
        }
    }

    mutating func measureIdle() async throws {
        let seconds = 30
        try await bench.withNode { node in
            try await Task.sleep(for: .seconds(2))
            let before = try node.figures
            try await Task.sleep(for: .seconds(seconds))
            let after = try node.figures
            results.add("idle, VmRSS", "MB", after.resident / 1000)
            let used = after.threadTime(since: before)
            results.add("idle, CPU", "% of a core", 100 * used / Double(seconds))
            results.add("idle, wake-ups", "1/s", Double(after.sleeps - before.sleeps) / Double(seconds))
            // The code that serves peers comes into memory with the first.
            let few = try await crowd(of: 10)
            await few.end()
            let alone = try node.figures
            let peers = 10_000
            let crowd = try await crowd(of: peers)
            let crowded = try node.figures
            results.add(
                "idle, per peer of 10,000", "KiB", (crowded.resident - alone.resident) / Double(peers))
            try await Task.sleep(for: .seconds(seconds))
            let later = try node.figures
            let usedByPeers = later.threadTime(since: crowded)
            results.add("idle, CPU with 10,000 peers", "% of a core", 100 * usedByPeers / Double(seconds))
            await crowd.end()
        }
    }

    /// Readers of mailboxes where nothing comes.
    mutating func measureReaders() async throws {
        for (name, options) in [("json", []), ("ws", ["--web-socket"])] {
            try await bench.withNode(readers: 10_500) { node in
                let few = try await crowd(ofReaders: 100, options, of: node.gateway.directory)
                await few.end()
                let alone = try node.figures
                let readers = 10_000
                let many = try await crowd(ofReaders: readers, options, of: node.gateway.directory)
                results.add(
                    "readers (\(name)), each of 10,000", "KiB",
                    (try node.figures.resident - alone.resident) / Double(readers))
                await many.end()
            }
        }
    }

    private func crowd(
        ofReaders readers: Int, _ options: [String], of directory: String
    ) async throws -> Child {
        let crowd = try bench.tool(
            [
                "readers", "--to", "unix:\(directory)/mailboxes", "--state", "\(directory)/state",
                "--readers", "\(readers)",
            ] + options)
        let line = try await crowd.firstLine()
        guard line == "\(readers)" else { throw BenchError(line) }
        try await Task.sleep(for: .seconds(1))
        return crowd
    }

    /// Peers that are connected and say nothing.
    private func crowd(of peers: Int) async throws -> Child {
        let crowd = try bench.tool(["idle", "--to", bench.peerEndpoint, "--peers", "\(peers)"])
        guard try await crowd.firstLine() == "\(peers)" else { throw BenchError("peers were refused") }
        try await Task.sleep(for: .seconds(1))
        return crowd
    }

    /// What waits is for Android, whose gateway is away.
    mutating func measureWaiting() async throws {
        let count = isQuick ? 20_000 : 40_000
        var none: Double?
        for waiting in isQuick ? [0, 1_000, 100_000] : [0, 1_000, 100_000, 1_000_000] {
            let (used, resident) = try await bench.withNode { node in
                if waiting > 0 {
                    // So many peers that none has to send more than the rate allows that a connection may be given.
                    let arguments = peerArguments(100, 20, count: waiting, ["--android", "--awaiting", "0"])
                    _ = try await node.under(arguments)
                }
                _ = try await node.under(peerArguments(10, 64, count: 2_000))
                let used = try await node.under(peerArguments(10, 64, count: count)).used
                return (used, try node.figures.resident)
            }
            let name = "waiting rows: \(waiting)"
            results.add(name, "CPU s/10k", perTenThousand(used.cpu, count))
            results.add("\(name), VmRSS", "MB", resident / 1000)
            guard let none else {
                none = resident
                continue
            }
            results.add("\(name), VmRSS over none", "MB", (resident - none) / 1000)
        }
    }

    /// How long one commit takes this disk: 4 KiB written and brought to it.
    mutating func measureDisk() async throws {
        let descriptor = open("\(bench.directory.path)/disk", O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw BenchError("no file to write to") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 0x55, count: 4096)
        var times = LatencyCounter()
        for index in 0..<300 {
            let start = EventLoop.now.nanoseconds
            guard pwrite(descriptor, page, page.count, off_t(4096 * (index % 64))) == page.count,
                fdatasync(descriptor) == 0
            else { throw BenchError("the disk takes nothing") }
            times.record(nanoseconds: EventLoop.now.nanoseconds - start)
        }
        results.add("disk, 4 KiB + fdatasync, p50", "ms", times.latency?.median ?? .nan)
        results.add("disk, 4 KiB + fdatasync, p99", "ms", times.latency?.p99 ?? .nan)
    }

    /// Without symbols, as packages have it.
    mutating func measureBinary() async throws {
        let stripped = "\(bench.directory.path)/stripped"
        _ = try await Child(["strip", "-o", stripped, bench.node], core: .others).finish()
        var status = stat()
        guard stat(stripped, &status) == 0 else { throw BenchError("strip made no file") }
        results.add("binary, stripped", "MB", Double(status.st_size) / 1e6)
    }

    mutating func addRatios() {
        for load in PacedLoad.all {
            results.addRatio(
                "postgresql, two nodes to one, \(load.name)", of: "postgresql, two nodes, \(load.name)",
                to: "postgresql, one node, \(load.name)")
        }
        results.addRatio(
            "slow to fast gateway", of: "slow: answers after 20 ms", to: "slow: answers at once")
        results.addRatio(
            "slow to fast gateway, h2load", of: "slow: answers after 20 ms, h2load",
            to: "slow: answers at once, h2load")
        results.addRatio("peers 100 x 8 to 1 x 64", of: "peers 100 x 8", to: "peers 1 x 64")
        results.addRatio("peers 1000 x 1 to 1 x 64", of: "peers 1000 x 1", to: "peers 1 x 64")
        results.addRatio(
            "waiting rows: 100000 to 0", of: "waiting rows: 100000", to: "waiting rows: 0")
        results.addRatio(
            "waiting rows: 1000000 to 0", of: "waiting rows: 1000000", to: "waiting rows: 0")
    }
}
