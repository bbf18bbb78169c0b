import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The built node with its store in a real PostgreSQL whose file system is really full.
@EventLoop
@Suite(.serialized) struct FullDiskTests {
    private enum Disk: CaseIterable {
        case tables
        /// The server ends as soon as it has to write, and is started again and again.
        case log

        func server() throws -> PostgreSQLServer {
            switch self {
            case .tables: try PostgreSQLServer(small: .tables(40))
            case .log: try PostgreSQLServer(small: .log(30))
            }
        }

        func database(_ server: PostgreSQLServer) throws -> String {
            switch self {
            case .tables: try server.makeSmallDatabase()
            case .log: "postgres"
            }
        }
    }

    private func large(_ number: Int, awaitsOutcome: Bool = false) -> MobileNotificationRequest {
        var wanted = request(number, awaitsOutcome: awaitsOutcome)
        wanted.message = Data(repeating: UInt8(number & 0xff), count: 2400).base64EncodedString()
        return wanted
    }

    /// As the app of Bisq 2 does it.
    private func post(to socket: String) async throws -> Int {
        let phone = try ConnectPhone(
            platform: .ios, deviceToken: String(repeating: "f", count: 64),
            key: [UInt8](repeating: 0, count: ConnectPhone.keyLength))
        return try await HTTPExchange.answer(
            to: phone.request(for: large(1).message), host: "node", by: .direct(.unix(path: socket)),
            deadline: theRun
        ).status
    }

    @Test(arguments: Disk.allCases)
    private func aFullDiskIsWaitedForAndNothingIsLost(_ disk: Disk) async throws {
        let server = try disk.server()
        let url = server.url(try disk.database(server))
        let socket = server.directory + "/http"
        let stage = try LoopbackStage {
            $0.replacing("guarded: false", with: "guarded: false, http_listen: \"unix:\(socket)\"")
                + "storage: {url: \"\(url)\", write_behind: 0}\n"
        }
        // Some of what was accepted waits meanwhile.
        let later = FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "2"), times: 5)
        stage.world.apple.faults = FaultScript([later])
        try await stage.start()
        let peer = try await stage.dial()
        var last = 0
        func send() async throws -> Bool {
            last += 1
            let status = try await peer.send(large(last)).status
            #expect(status == .stored || status == .busy)
            return status == .stored
        }
        for _ in 0..<5 { #expect(try await send()) }
        try server.fillSmall(true)
        // Room that there is already is filled first.
        while try await send() { try #require(last < 5000) }
        await stage.logged("outbox.failed")
        var answer = 0
        for _ in 0..<100 where answer != 503 {
            if try stage.isWell("outbox") {
                _ = try await send()
            } else {
                answer = try await post(to: socket)
            }
        }
        #expect(answer == 503)
        let log = try String(contentsOfFile: server.directory + "/log", encoding: .utf8)
        #expect(log.contains("No space left on device"))
        #expect(log.contains("PANIC") == (disk == .log))

        try server.fillSmall(false)
        try await until { try stage.isWell("outbox") }
        for number in 1...last {
            try await until {
                try await peer.outcome(of: large(number, awaitsOutcome: true)).status == .delivered
            }
        }
        let pushes = stage.world.apple.book.filter { $0.deviceToken.hasPrefix("0") }.map(\.deviceToken)
        #expect(pushes.count == last && Set(pushes).count == last)
        await stage.close()
    }
}
