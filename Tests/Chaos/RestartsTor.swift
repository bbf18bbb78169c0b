import Lab
import Processes
import Reactor
import Tor

/// The tor of a node, in each of the ways in which a node has one, seen from beside the node.
@EventLoop
final class RestartsTor {
    enum Mode: String { case own, instance, system }

    let mode: Mode
    /// The lines of the settings.
    let settings: [String]
    private let control: Endpoint
    private let cookie: String
    private let systemTor: LabTor?
    private var instance: ChildProcess?
    private var watching: ControlConnection?
    /// The times at which tor has sent a descriptor of the service to a directory.
    private(set) var uploads: [ContinuousClock.Instant] = []

    func uploads(during times: [ClosedRange<ContinuousClock.Instant>]) -> Int {
        uploads.count { upload in times.contains { $0.contains(upload) } }
    }

    /// - Parameter directory: The node's; its state directory is made.
    init(_ mode: Mode, _ network: PrivateTorNetwork, torrc: String, in directory: LabDirectory) async throws {
        self.mode = mode
        let path = directory.path
        switch mode {
        case .own:
            try network.seed(dataDirectory: try directory.make("state/tor"))
            settings = ["mode: own", "torrc: torrc"]
            (control, cookie) = (
                .unix(path: path + "/state/tor/control"), path + "/state/tor/control.authcookie"
            )
            systemTor = nil
        case .instance:
            _ = try directory.make("shared")
            try network.seed(dataDirectory: path + "/tor")
            settings = ["mode: instance", "control: \"unix:\(path)/shared/control\""]
            (control, cookie) = (.unix(path: path + "/shared/control"), path + "/shared/control.authcookie")
            systemTor = nil
        case .system:
            let tor = try await network.startTor()
            settings = ["mode: system", "control: \(tor.control)", "cookie_file: \(tor.cookieFile)"]
            (control, cookie, systemTor) = (tor.control, tor.cookieFile, tor)
        }
        try network.writeTorrc(basedOn: torrc, to: path + "/torrc")
        if mode == .instance { try startInstance(torrc, path) }
    }

    /// Starts tor as the package's unit does, with other paths.
    private func startInstance(_ torrc: String, _ path: String) throws {
        let root = absolute(torrc).split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/")
        let unit = try LabDirectory.read("\(root)/Deploy/system/onionbell-tor.service")
        let text = String(decoding: unit, as: UTF8.self).split(separator: "\\\n").joined(separator: " ")
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ExecStart=") }) else {
            throw ChaosError("the unit has no ExecStart")
        }
        var words = String(line.dropFirst("ExecStart=".count))
        for (from, to) in [
            ("/usr/local/share/onionbell/torrc", path + "/torrc"),
            ("/etc/onionbell-tor/torrc", path + "/none"),
            ("/var/lib/onionbell-tor", path + "/tor"), ("/run/onionbell-tor", path + "/shared"),
        ] { words = words.replacing(from, with: to) }
        var arguments: [String] = []
        // What is between quotation marks is one word.
        for (number, part) in words.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            arguments += number % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
        arguments[0] = "tor"
        instance = try ChildProcess(arguments, environment: ["PATH=/usr/bin:/usr/sbin"], onLine: { _ in }) {
            _ in
        }
    }

    /// What tor has of a service.
    struct Service: Equatable {
        var introductionCircuits: Set<String>
    }

    /// Asks tor for the service as it stands.
    func service() async throws -> Service {
        let connection = try await ControlConnection.open(
            control, credentials: ControlCredentials(cookieFile: cookie))
        defer { connection.close() }
        let circuits = try await connection.send(.getInfo(["circuit-status"]))["circuit-status"] ?? ""
        let introductions = circuits.split(separator: "\n").filter {
            $0.contains("PURPOSE=HS_SERVICE_INTRO") && $0.contains(" BUILT ")
        }.compactMap { $0.split(separator: " ").first.map(String.init) }
        return Service(introductionCircuits: Set(introductions))
    }

    /// Notes from now on when tor sends a descriptor of a service to a directory.
    func watch(_ address: String) async throws {
        let connection = try await ControlConnection.open(
            control, credentials: ControlCredentials(cookieFile: cookie))
        connection.onEvent = { [unowned self] event in
            guard case .descriptor(let event) = event, event.action == .upload,
                address.hasPrefix(event.serviceID)
            else { return }
            uploads.append(.now)
        }
        try await connection.send(.setEvents(["HS_DESC"]))
        watching = connection
    }

    func close() async {
        watching?.close()
        instance = nil
        await systemTor?.kill()
    }
}
