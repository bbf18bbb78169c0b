import Client
import Foundation
import Lab
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// How `onionbell send` ends: a script that sends again by its exit status rings nobody twice.
@EventLoop
@Suite(.serialized) struct SendStatusTests {
    private func send(_ words: String..., to address: String, phone: Phone) async throws -> CommandResult {
        let arguments =
            [
                program, "send", "--to", address, "--pairing-token", phone.pairingToken.text, "--title", "t",
                "--message", "m",
            ] + words
        return try await Task.detached { try run(arguments) }.value
    }

    private func makeStage(at port: UInt16) throws -> LoopbackStage {
        try LoopbackStage {
            $0.replacing(#/peer_listen: "[^"]*"/#, with: "peer_listen: \"127.0.0.1:\(port)\"")
        }
    }

    /// The node has it and can't say yet what became of it.
    @Test func whatIsStoredWithoutAnOutcomeIsNotSentAgain() async throws {
        let port = try freePort()
        let stage = try makeStage(at: port)
        stage.world.apple.faults = FaultScript([
            FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "3600"))
        ])
        try await stage.start()
        let phone = try Phone.new(.ios, descriptor: "X")
        let sent = try await send("--wait", "--timeout", "5s", to: "127.0.0.1:\(port)", phone: phone)
        #expect(sent.status == 3, "\(sent)")
        #expect(sent.output == "stored\n" && sent.errors.contains("no outcome yet"), "\(sent)")
        #expect(try await send(to: "127.0.0.1:\(port)", phone: phone).status == 0)
        await stage.close()
    }

    /// The node does not answer in time, and has it all the same: it rings when nobody waits any more.
    @Test(arguments: [SendFormOfTest.p2p, .bisq1]) func whatWasSentWithoutAnAnswerIsNotSentAgain(
        form: SendFormOfTest
    ) async throws {
        let (port, http) = (try freePort(), try freePort())
        let stage = try LoopbackStage {
            $0.replacing(#/peer_listen: "[^"]*"/#, with: "peer_listen: \"127.0.0.1:\(port)\"")
                .replacing(#/onion: \{/#, with: "onion: {http_listen: \"127.0.0.1:\(http)\", ")
        }
        try await stage.start()
        let phone = try Phone.new(.ios, descriptor: "X")
        let waiter = stage.world.nextPush(to: phone)
        try stage.signal(SIGSTOP)
        let address = "127.0.0.1:\(form == .p2p ? port : http)"
        let sent = try await send("--form", form.rawValue, "--timeout", "1s", to: address, phone: phone)
        #expect(sent.status == 3, "\(sent)")
        try stage.signal(SIGCONT)
        #expect(await waiter.wait(for: theRun) != nil)
        await stage.node.stop()
        let late = try await send("--form", form.rawValue, "--timeout", "1s", to: address, phone: phone)
        #expect(late.status == 69, "\(late)")
        await stage.close()
    }

    /// A node of another network says so for ever, and one that cannot read us as well.
    @Test(arguments: [PeerClose.wrongNetworkID, .invalidDataType, .messageTooLarge])
    func aFarewellThatNeverChangesIsNoReasonToTryAgain(reason: PeerClose) async throws {
        let peer = try ClosingPeer(saying: reason)
        let word = try #require(reason.word)
        let phone = try Phone.new(.ios, descriptor: "X")
        let sent = try await send(to: peer.address, phone: phone)
        #expect(sent.status == 1 && sent.errors.contains(word), "\(sent)")
        let words = [program, "watch", "--to", peer.address]
        let watched = try await Task.detached { try run(words) }.value
        #expect(watched.status == 1 && watched.output.contains("failing: "), "\(watched)")
        #expect(peer.accepted == 2)
        peer.close()
    }
}

enum SendFormOfTest: String { case p2p, bisq1 }
