import Client
import Encodings
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The built program with simulated gateways and a tor without a network: peers come straight to the door.
@EventLoop
final class LoopbackStage {
    let world: LabWorld
    let configuration: String
    private(set) var node: LabNode!

    private let door: String
    /// Where peers come in.
    var peers: Endpoint { .unix(path: door) }

    /// - Parameters:
    ///   - state: the state directory; `nil`: the world's.
    ///   - withWebPush: whether browsers are among the phones.
    ///   - names: the names by which the gateways are known besides those of this machine.
    ///   - change: makes the configuration's text another one.
    init(
        state: String? = nil, withWebPush: Bool = false, names: [String] = [],
        change: (String) -> String = { $0 }
    ) throws {
        world = try LabWorld(names: names)
        door = world.directory.path + "/peers"
        let torrc = world.directory.path + "/torrc"
        let lines = Array("\nDisableNetwork 1\n".utf8)
        try LabDirectory.write(try LabDirectory.read(projectTorrc) + lines, to: torrc)
        configuration = try world.configure(
            tor: ["mode: own", "torrc: \(torrc)"],
            more: [
                "onion: {peer_listen: \"unix:\(door)\", guarded: false}",
                "peers: {frames_per_second: 65535, frames_per_ten_seconds: 65535}",
                "circuits: {frames_per_second: 0, bytes_per_second: 0}",
                "limits: {token_rate: 100000, token_burst: 100000, waiting_per_token: 100000}",
            ], withWebPush: withWebPush)
        var text = change(try String(contentsOfFile: configuration, encoding: .utf8))
        if let state { text = text.replacing(world.state, with: state) }
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    /// Returns when the node has started.
    ///
    /// - Parameters:
    ///   - program: the node's, where it is not the one that was built.
    ///   - environment: `KEY=value` each; `nil`: this process' own.
    func start(program: String = nodeProgram, environment: [String]? = nil) async throws {
        node = try LabNode(program, configuration: configuration, environment: environment)
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        let (exit, lines) = (node.exit, node.lines)
        #expect(exit == nil, "\(lines)")
    }

    /// Before its start: it has the keys that nodes of one database share with that one.
    func share(_ first: LoopbackStage) throws { try world.share(first.world) }

    func dial() async throws -> BisqPeer {
        try await BisqPeer.dial(.direct(peers), deadline: theRun)
    }

    func signal(_ number: Int32) throws { kill(try #require(node.processID), number) }

    /// Waits until the node has logged a line with these words.
    func logged(_ words: String, count: Int = 1) async {
        await node.wait { node in
            node.exit != nil || node.lines.count { $0.contains(words) } >= count
        }
    }

    /// What `/healthz` says.
    func health() throws -> JSON { try EndToEndTests.health(over: world.directory.path + "/management") }

    /// What `/metrics` says.
    func metrics() throws -> String {
        let socket = world.directory.path + "/management"
        return try run(["curl", "-s", "--unix-socket", socket, "http://localhost/metrics"]).output
    }

    func isWell(_ check: String) throws -> Bool { try health()["checks"]?[check]?["ok"]?.bool ?? false }

    func close() async {
        if node?.exit == nil { await node?.stop() }
        let indiscretions = node?.indiscretions ?? []
        #expect(indiscretions.isEmpty, "the log tells what nobody may know")
        await world.close()
    }
}

extension LabWorld {
    /// Before the node's start: it has the keys that nodes of one database share with that of the first one.
    func share(_ first: LabWorld) throws {
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(
            atPath: first.state + "/digest-key", toPath: state + "/digest-key")
    }
}

/// What `/healthz` says.
///
/// - Parameter socket: The path of the management endpoint.
func health(over socket: String) throws -> JSON {
    let answer = try run(["curl", "-s", "--unix-socket", socket, "http://localhost/healthz"])
    return try JSON(Array(answer.output.utf8))
}

extension BisqPeer {
    /// How it ended: the first response, if it was sent before it was stored, else the second.
    func outcome(
        of request: MobileNotificationRequest, deadline: Duration = theRun
    ) async throws -> MobileNotificationResponse {
        let response = try await send(request)
        guard response.status == .stored else { return response }
        return try await nextResponse(to: request.uid, deadline: deadline)
    }
}

/// A request of its own uid, to a device of its own.
func request(
    _ number: Int, platform: Platform = .ios, awaitsOutcome: Bool = false
) -> MobileNotificationRequest {
    var request = MobileNotificationRequest()
    request.uid = "request-\(number)"
    request.platform = platform
    let digits = String(number)
    let token = String(repeating: "0", count: 64 - digits.count) + digits
    request.deviceToken = platform == .android ? "lab:" + token : token
    request.message = Data("\(request.uid) and as many bytes as it takes".utf8).base64EncodedString()
    request.isUrgent = true
    request.awaitsOutcome = awaitsOutcome
    return request
}
