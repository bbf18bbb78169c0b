import Client
import Foundation
import HTTP1
import Lab
import Processes
import Reactor
import Testing
import Vectors

/// Programs that guess the console's passphrase while its owner comes with a new browser, at the built node.
@Suite(.serialized) struct ConsoleSiegeTests {
    /// Programs of this machine that guess on and on, each with another text each time.
    @EventLoop
    @Test func localProgramsThatGuessKeepNoNewBrowserOut() async throws {
        let (stage, owner) = try await LoopbackStage.owned(passphrase: "correct horse")
        let port = owner.port
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
            let began = ContinuousClock.now
            #expect(try await ConsoleBrowser(port).enter("passphrase", "correct horse") == 204)
            guard isLong else { continue }
            print("the owner was in after \(ContinuousClock.now - began)")
            let told = guessers.reduce(0) { $0 + $1.lines.count }
            try await until { guessers.reduce(0) { $0 + $1.lines.count } >= told + 10 }
        }
        for guesser in guessers { await guesser.kill() }
        await stage.close()
    }

    /// Programs that send their guess and hang up before they hear, as fast as they can.
    @EventLoop
    @Test func programsThatHangUpKeepNoNewBrowserOut() async throws {
        let (stage, owner) = try await LoopbackStage.owned(passphrase: "correct horse")
        let port = owner.port
        let script = """
            import socket, sys
            body = b'{"passphrase":"wrong horse"}'
            guess = (b'POST /api/v1/session HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\n'
                b'Origin: http://127.0.0.1:\(port)\\r\\nonionbell-console: 1\\r\\ncontent-type: application/json\\r\\n'
                b'content-length: %d\\r\\n\\r\\n' % len(body)) + body
            count = 0
            while True:
                guesser = socket.create_connection(('127.0.0.1', \(port)))
                guesser.sendall(guess * (1 + count % 20))
                guesser.close()
                count += 1
                if count == 100: print('guessed', flush=True)
            """
        let guessers = try (1...4).map { _ in try LabProgram(["python3", "-c", script]) }
        for guesser in guessers { await guesser.wait { $0.exit != nil || $0.lines.contains("guessed") } }
        for _ in 1...(isLong ? 10 : 3) {
            let began = ContinuousClock.now
            #expect(try await ConsoleBrowser(port).enter("passphrase", "correct horse") == 204)
            if isLong { print("the owner was in after \(ContinuousClock.now - began)") }
        }
        for guesser in guessers {
            let (exit, lines) = (guesser.exit, guesser.lines)
            #expect(exit == nil, "\(lines)")
            await guesser.kill()
        }
        await stage.close()
    }

    /// A crowd that writes forty guesses each and hangs up, beside connections that all wait for an answer: the most that
    /// one machine's programs can do at once.
    @EventLoop
    @Test func aCrowdThatHangsUpBesideOneThatWaitsKeepsNoNewBrowserOut() async throws {
        let (stage, owner) = try await LoopbackStage.owned(passphrase: "correct horse")
        let port = owner.port
        let script = """
            import selectors, socket, threading
            body = b'{"passphrase":"wrong horse"}'
            guess = (b'POST /api/v1/session HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\n'
                b'Origin: http://127.0.0.1:\(port)\\r\\nonionbell-console: 1\\r\\ncontent-type: application/json\\r\\n'
                b'content-length: %d\\r\\n\\r\\n' % len(body)) + body
            def dial():
                guesser = socket.create_connection(('127.0.0.1', \(port)))
                guesser.sendall(guess)
                return guesser
            def hang_up():
                while True:
                    try:
                        guesser = dial()
                        guesser.sendall(guess * 39)
                        guesser.close()
                    except OSError: pass
            ear = selectors.DefaultSelector()
            for _ in range(300): ear.register(dial(), selectors.EVENT_READ)
            for _ in range(500): threading.Thread(target=hang_up, daemon=True).start()
            print('guessed', flush=True)
            while True:
                for key, _ in ear.select():
                    try:
                        if key.fileobj.recv(4096):
                            key.fileobj.sendall(guess)
                            continue
                    except OSError: pass
                    ear.unregister(key.fileobj)
                    key.fileobj.close()
                    try: ear.register(dial(), selectors.EVENT_READ)
                    except OSError: pass
            """
        let crowd = try LabProgram(["python3", "-c", script])
        await crowd.wait { $0.exit != nil || $0.lines.contains("guessed") }
        for _ in 1...(isLong ? 10 : 3) {
            let began = ContinuousClock.now
            #expect(try await ConsoleBrowser(port).enter("passphrase", "correct horse") == 204)
            if isLong { print("the owner was in after \(ContinuousClock.now - began)") }
        }
        let (exit, lines) = (crowd.exit, crowd.lines)
        #expect(exit == nil, "\(lines)")
        await crowd.kill()
        await stage.close()
    }

    /// A request as a browser sends it, by a circuit of its own.
    @EventLoop
    private func send(
        _ method: String, _ path: String, to address: String, by socks: Endpoint, _ body: String,
        cookie: String? = nil
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method: method, path: path, body: Array(body.utf8), isKeptAlive: false)
        for (name, value) in [
            ("origin", "http://\(address)"), ("onionbell-console", "1"), ("content-type", "application/json"),
        ] { request.fields.append(name, value) }
        if let cookie { request.fields.append("cookie", cookie) }
        return try await HTTPExchange.answer(
            to: request, host: address, by: .tor(socks: socks, onion: address, port: 80),
            attemptTimeout: .seconds(20), deadline: theRun)
    }

    /// Strangers with a circuit each, who guess as soon as they are answered.
    @EventLoop
    @Test func circuitsThatGuessKeepNoOwnerOut() async throws {
        let stage = try await NodeTests.Stage(more: ["console: {listen: [onion]}"])
        await stage.node.wait { $0.exit != nil || $0.lines.contains { $0.contains("console.published") } }
        let file = stage.world.state + "/console-link"
        try await until { FileManager.default.fileExists(atPath: file) }
        let link = try String(contentsOfFile: file, encoding: .utf8)
        let parts = link.trimmingCharacters(in: .newlines).components(separatedBy: "/#enter=")
        let address = String(try #require(parts.first).dropFirst("http://".count))
        let socks = stage.socks
        let session = "/api/v1/session"
        let entered = try await send(
            "POST", session, to: address, by: socks, #"{"link":"\#(parts.last ?? "")"}"#)
        let cookie = entered.fields["set-cookie"].map { String($0.prefix { $0 != ";" }) }
        let right = #"{"passphrase":"correct horse"}"#
        #expect(
            try await send("PUT", "/api/v1/passphrase", to: address, by: socks, right, cookie: cookie).status
                == 204)
        let script = """
            while :; do
                n=$((n + 1))
                curl -s -o /dev/null --proxy socks5h://guesser$0:x@\(socks) -H 'Origin: http://\(address)' \
                    -H 'onionbell-console: 1' -H 'content-type: application/json' \
                    -d "{\\"passphrase\\":\\"wrong $0 $n\\"}" http://\(address)/api/v1/session
                echo guessed
            done
            """
        let guessers = try (1...(isLong ? 34 : 8)).map { try LabProgram(["sh", "-c", script, "\($0)"]) }
        for guesser in guessers { await guesser.wait { $0.lines.contains("guessed") } }
        for _ in 1...10 {
            // By a new circuit each, and without a mark of before.
            let began = ContinuousClock.now
            let status = try await send("POST", session, to: address, by: socks, right).status
            #expect(status == 204)
            guard isLong else { continue }
            // The figures of a long run are read by a person.
            print("the owner was in after \(ContinuousClock.now - began)")
            // One guess is judged in 0.6 s: ten make the siege a minute long.
            let told = guessers.reduce(0) { $0 + $1.lines.count }
            try await until { guessers.reduce(0) { $0 + $1.lines.count } >= told + 10 }
        }
        for guesser in guessers { await guesser.kill() }
        await stage.close()
    }
}
