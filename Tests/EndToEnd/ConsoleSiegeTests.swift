import Foundation
import Lab
import Processes
import Reactor
import Testing

/// Programs that guess the console's passphrase while its owner comes with a new browser, at the built node.
@Suite(.serialized) struct ConsoleSiegeTests {
    /// Programs of this machine that guess on and on, each with another text each time.
    @EventLoop
    @Test func localProgramsThatGuessKeepNoNewBrowserOut() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        try await stage.start()
        let owner = ConsoleBrowser(port)
        #expect(try await owner.enter("link", stage.linkInFile()) == 204)
        let set = #"{"passphrase":"correct horse"}"#
        #expect(try await owner.send("PUT", "/api/v1/passphrase", set).status == 204)
        let script = """
            while :; do
                n=$((n + 1))
                curl -s -o /dev/null -H 'Origin: http://127.0.0.1:\(port)' -H 'onionbell-console: 1' \
                    -H 'content-type: application/json' -d "{\\"passphrase\\":\\"wrong $0 $n\\"}" \
                    http://127.0.0.1:\(port)/api/v1/session
                echo guessed
            done
            """
        let guessers = try (1...8).map { try LabProgram(["sh", "-c", script, "\($0)"]) }
        for guesser in guessers { await guesser.wait { $0.lines.contains("guessed") } }
        for _ in 1...10 {
            // One request each: it is not even asked to come again.
            #expect(try await ConsoleBrowser(port).enter("passphrase", "correct horse") == 204)
        }
        for guesser in guessers { await guesser.kill() }
        await stage.close()
    }
}
