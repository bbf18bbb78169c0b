import Crypto
import Dispatching
import Foundation
import Logging
import Persistence
import Reactor
import Relay
import Testing
import Vectors
import Wire

@testable import Doors

/// What one read brings at once is done in several turns of the loop.
@EventLoop
@Suite struct PeerBundleTests {
    private static let count = 300

    private func door() async throws -> (door: PeerDoor, endpoint: Endpoint, dispatcher: Dispatcher) {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-bundle-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let app = App(name: "android", service: SampleService.android, isEnabled: true)
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: [app], defaultIOS: "", defaultAndroid: "android"),
                limits: Admission.Limits()), outbox: try await OutboxStore(path: path + "/outbox.sqlite"),
            digester: SubmissionDigester(key: Secret([1])),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await dispatcher.start()
        let door = PeerDoor(settings: PeerDoorSettings(), dispatcher: dispatcher)
        return (door, try door.open(on: .host("127.0.0.1", port: 0)), dispatcher)
    }

    /// One frame with so many requests, each for a phone of its own.
    private func bundle() -> [UInt8] {
        let entries = (0..<Self.count).map { number in
            var request = MobileNotificationRequest()
            request.uid = "\(number)"
            request.platform = .android
            request.deviceToken = String(repeating: "t", count: 40) + "\(number)"
            request.message = String(repeating: "QUJD", count: 12)
            return Envelope(messageVersion: 10, message: .notificationRequest(request))
        }
        return Envelope(messageVersion: 10, message: .bundle(entries)).frame
    }

    @Test func aBundleIsTakenInTurnsAndInItsOrder() async throws {
        let (door, endpoint, dispatcher) = try await door()
        let peer = try await RawPeer(endpoint)
        let bytes = bundle()
        #expect(bytes.count < 65_536)
        peer.stream.write(bytes)
        var steps: [Int] = []
        while dispatcher.waiting < Self.count {
            let before = dispatcher.waiting
            await EventLoop.nextTurn()
            if dispatcher.waiting > before { steps.append(dispatcher.waiting - before) }
        }
        // This and the door's own steps may fall into one turn of the loop's.
        #expect(steps.allSatisfy { $0 <= 2 * PeerConnection.requestsPerTurn }, "\(steps)")
        #expect(steps.count > 1)
        await peer.wait { $0.responses.count == Self.count }
        #expect(peer.responses.map(\.requestUid) == (0..<Self.count).map { "\($0)" })
        #expect(peer.responses.allSatisfy { $0.status == .stored })
        // And it reads on.
        peer.stream.write(bytes)
        await peer.wait { $0.responses.count == 2 * Self.count }
        await door.close()
    }

    /// What was read whole is stored, as when it was done at once.
    @Test func whoLeavesBehindABundleHasBroughtAllOfIt() async throws {
        let (door, endpoint, dispatcher) = try await door()
        let peer = try await RawPeer(endpoint)
        peer.stream.write(bundle())
        while dispatcher.waiting == 0 { await EventLoop.nextTurn() }
        #expect(dispatcher.waiting < Self.count)
        peer.stream.close()
        while dispatcher.waiting < Self.count { await EventLoop.nextTurn() }
        await door.close()
    }

    @Test func aDoorThatClosesAnswersTheWholeBundle() async throws {
        let (door, endpoint, dispatcher) = try await door()
        let peer = try await RawPeer(endpoint)
        peer.stream.write(bundle())
        while dispatcher.waiting == 0 { await EventLoop.nextTurn() }
        await door.close()
        await peer.wait { $0.hasEnded }
        #expect(peer.responses.count == Self.count && dispatcher.waiting == Self.count)
    }
}
