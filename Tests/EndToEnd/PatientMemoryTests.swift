import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import Reactor
import Testing

/// What a burst of a Bitwarden server takes of the built program's memory, and what is left of it afterwards.
@EventLoop
@Suite(.serialized) struct PatientMemoryTests {
    private static let user = "075c56fa-b994-4e01-af0c-917dc0bf216b"
    private static let phones = 100

    private func ask(_ path: String, _ body: String, _ token: String?, _ door: PeerRoute) async throws
        -> HTTPResponse
    {
        var request = HTTPRequest(method: "POST", path: path, body: Array(body.utf8))
        if let token { request.fields.append("authorization", "Bearer \(token)") }
        return try await HTTPExchange.answer(to: request, host: "node", by: door)
    }

    /// 100 phones of one user, 300 changes at once, each of 3.6 KB: as an honest server sends them.
    @Test func whatABurstTakesIsGivenBack() async throws {
        let stage = try LoopbackStage { text in
            let directory = text.firstMatch(of: /unix:(\S+)\/management/)?.output.1 ?? ""
            return text.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("limits: ") }.joined(separator: "\n") + """

                    doors:
                      bitwarden: {listen: ["unix:\(directory)/door"], apps: [bisq-remote-ios, bisq-remote-android]}

                    """
        }
        let door = PeerRoute.direct(.unix(path: stage.world.directory.path + "/door"))
        try await stage.start()
        let made = try run([program, "installation", "add", "--json", "--config", stage.configuration])
        let installation = try JSON(Array(made.output.utf8))
        let (id, key) = (try #require(installation["id"]?.string), try #require(installation["key"]?.string))
        let form =
            "grant_type=client_credentials&scope=api.push&client_id=installation.\(id)&client_secret=\(key)"
        let token = try #require(
            try JSON(try await ask("/connect/token", form, nil, door).body)["access_token"]?.string)
        for number in 0..<Self.phones {
            let name = UUID().uuidString.lowercased()
            let body: JSON = [
                "deviceId": .string(name), "userId": .string(Self.user), "identifier": .string(name),
                "pushToken": .string(request(number, platform: .android).deviceToken), "type": 0,
            ]
            #expect(try await ask("/push/register", body.text, token, door).status == 200)
        }
        let payload: JSON = [
            "userId": .string(Self.user), "type": 5,
            "payload": ["words": .string(String(repeating: "x", count: 3600))],
        ]
        var peak = 0
        /// All at once; each is answered when the last of its phones has had its turn, or none in time.
        func burst(_ sends: Int) async throws {
            var open = sends
            for _ in 0..<sends {
                Task {
                    _ = try? await ask("/push/send", payload.text, token, door)
                    open -= 1
                }
            }
            try await until {
                peak = max(peak, stage.node.residentMemory ?? 0)
                return open == 0
            }
        }
        // What is made once: connections, statements, and room for what is on its way.
        try await burst(30)
        let before = try #require(stage.node.residentMemory)
        peak = before
        try await burst(300)
        var after = try #require(stage.node.residentMemory)
        try await until {
            after = try #require(stage.node.residentMemory)
            return after - before < max((peak - before) / 2, 8 << 10)
        }
        print("resident before \(before >> 10) MiB, at most \(peak >> 10), afterwards \(after >> 10)")
        #expect(peak - before < 64 << 10, "beyond any bound")
        await stage.close()
    }
}
