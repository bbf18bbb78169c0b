import Client
import Encodings
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// `Deploy/examples/peer.py`, the sender that others port: over Tor, to a node that nobody prepared for it.
@EventLoop
@Suite(.serialized) struct PeerExampleTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy/examples/peer.py").standardized

    /// Runs it beside this process' event loop, where the simulated gateways live.
    private func send(
        _ token: String, to address: String, by socks: Endpoint
    ) async throws -> (exit: ChildExit, lines: [String]) {
        let file = FileManager.default.temporaryDirectory.path + "/pairing-\(UUID().uuidString)"
        try Data((token + "\n").utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        var lines: [String] = []
        var child: ChildProcess?
        defer { _ = child }
        let exit: ChildExit = try await withCheckedThrowingContinuation { continuation in
            do {
                child = try ChildProcess(
                    [
                        "sh", "-c", "exec python3 \"$0\" --to \"$1\" --socks \"$2\" --title Grüße <\"$3\"",
                        PeerExampleTests.script.path, address, "\(socks)", file,
                    ], onLine: { lines.append($0) }, onExit: { continuation.resume(returning: $0) })
            } catch {
                continuation.resume(throwing: error)
            }
        }
        return (exit, lines)
    }

    @Test func aPortOfTheExampleRingsBothKindsOfPhone() async throws {
        let stage = try await NodeTests.Stage()
        for platform in [Platform.ios, .android] {
            let phone = try Phone.new(platform, descriptor: "iPhone X")
            let waiter = stage.world.nextPush(to: phone)
            let (exit, lines) = try await send(
                phone.pairingToken.text, to: stage.address, by: stage.socks)
            #expect(exit == .exited(0), "\(lines)")
            // Stored first only if the gateway took its time.
            #expect(lines.last?.hasPrefix("delivered") == true, "\(lines)")
            let (push, _) = try #require(await waiter.wait(for: theRun))
            let body = try JSON(push.body)
            let text = (platform == .android ? body["message"]?["data"]?["encrypted"] : body["encrypted"])?
                .string
            #expect(try phone.open(try #require(text)).title == "Grüße")
        }
        await stage.close()
    }

    @Test(arguments: [PeerClose.wrongNetworkID, .invalidDataType, .messageTooLarge])
    func aFarewellThatNeverChangesEndsIt(reason: PeerClose) async throws {
        let peer = try ClosingPeer(saying: reason)
        let (exit, lines) = try await send(
            Phone.new(.android, descriptor: "Pixel").pairingToken.text, to: peer.address,
            by: .host("127.0.0.1", port: 9))
        #expect(exit == .exited(1) && peer.accepted == 1, "\(lines)")
        peer.close()
    }

    @Test func aRefusalIsToldWithItsReason() async throws {
        let stage = try await NodeTests.Stage()
        let (exit, lines) = try await send("android|x|short|x", to: stage.address, by: stage.socks)
        #expect(exit == .exited(64), "\(lines)")
        let token = "android|x|\(String(repeating: "k", count: 32))|\(String(repeating: "!", count: 40))"
        let refused = try await send(token, to: stage.address, by: stage.socks)
        #expect(refused.exit == .exited(1))
        #expect(refused.lines == ["refused BadDeviceToken"])
        await stage.close()
    }
}
