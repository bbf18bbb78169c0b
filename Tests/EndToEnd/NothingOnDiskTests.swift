import Client
import Encodings
import Foundation
import Lab
import Reactor
import Testing
import Wire

/// What the built program leaves on disk of notifications that were sent before they were stored: nothing.
@EventLoop
@Suite(.serialized) struct NothingOnDiskTests {
    /// Whether some file of the node's state holds these bytes.
    private func disk(of stage: LoopbackStage, holds text: String) throws -> Bool {
        let files = try #require(FileManager.default.enumerator(atPath: stage.world.state))
        for case let file as String in files {
            // Sockets and directories are none.
            guard let bytes = FileManager.default.contents(atPath: stage.world.state + "/" + file) else {
                continue
            }
            if bytes.range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    /// Returns how many notifications the node has delivered without storing them.
    private func neverStored(by stage: LoopbackStage) throws -> Int {
        let line = try stage.metrics().split(separator: "\n").first {
            $0.hasPrefix("onionbell_submissions_total{endpoint=\"peer\",result=\"unstored\"}")
        }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
    }

    @Test func whatWasDeliveredAtOnceIsInNoFile() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let peer = try await stage.dial()
        var delivered: [MobileNotificationRequest] = []
        // Some may miss their window on a busy machine: these are stored, although the gateway may answer before they are.
        for number in 0..<200 where delivered.count < 20 {
            let request = request(number, platform: .android, awaitsOutcome: true)
            let before = try neverStored(by: stage)
            let status = try await peer.send(request).status
            if status == .delivered, try neverStored(by: stage) > before { delivered.append(request) }
        }
        #expect(delivered.count == 20)
        for request in delivered {
            for secret in [request.message, request.deviceToken, request.uid] {
                #expect(try !disk(of: stage, holds: secret))
            }
        }
        // The search would find it: what nobody waits for is stored first.
        stage.world.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let waiting = request(1000, platform: .android)
        #expect(try await peer.send(waiting).status == .stored)
        #expect(try disk(of: stage, holds: waiting.message))
        #expect(try disk(of: stage, holds: waiting.deviceToken))
        await stage.close()
    }

    /// An identity is written within a second or so: a repetition after a kill is known then.
    @Test func whatWasDeliveredAtOnceIsNotSentAgainAfterAKill() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let peer = try await stage.dial()
        let request = request(1, awaitsOutcome: true)
        var response = try await peer.send(request)
        if response.status == .stored { response = try await peer.nextResponse(to: request.uid) }
        #expect(response.status == .delivered)
        // What is stored after it takes its identity along.
        #expect(try await peer.send(onionbellRequest(2)).status == .stored)
        await stage.node.kill()
        try await stage.start()
        let again = try await stage.dial()
        #expect(try await again.send(request).status == .delivered)
        #expect(stage.world.apple.book.count { $0.deviceToken == request.deviceToken } == 1)
        await stage.close()
    }

    private func onionbellRequest(_ number: Int) -> MobileNotificationRequest {
        EndToEndTests.request(number)
    }

    /// Bytes that the node has had written to a disk.
    private func written(by stage: LoopbackStage) throws -> Int {
        let process = try #require(stage.node.processID)
        let lines = try String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("write_bytes: ") })
        return try #require(Int(line.dropFirst(13)))
    }

    /// Of 300 that come one after the other.
    private func writtenForEach(_ change: (String) -> String) async throws -> Int {
        let stage = try LoopbackStage(change: change)
        try await stage.start()
        let peer = try await stage.dial()
        func send(_ numbers: Range<Int>) async throws {
            for number in numbers {
                let request = request(number, platform: .android, awaitsOutcome: true)
                if try await peer.send(request).status == .stored {
                    _ = try await peer.nextResponse(to: request.uid)
                }
            }
        }
        try await send(0..<20)
        let before = try written(by: stage)
        try await send(20..<320)
        let bytes = try written(by: stage) - before
        await stage.close()
        return bytes / 300
    }

    @Test func theDiskIsWrittenFarLess() async throws {
        let atOnce = try await writtenForEach { $0 }
        let stored = try await writtenForEach { $0 + "storage: {write_behind: 0}\n" }
        print("bytes written for each notification: \(atOnce) sent first, \(stored) stored first")
        // Both are 0 on a file system in memory.
        #expect(4 * atOnce <= stored)
    }
}
