import Foundation
import Lab
import Reactor
import Testing
import Vectors

/// Two hundred new circuits a second at the console's onion address of the built node, and a new one of somebody honest.
///
/// The circuits are said to the console's socket as tor says them: tor itself would need a machine of its own for so many.
@EventLoop
@Suite(.serialized) struct ConsoleCircuitsTests {
    /// What each circuit of the crowd does: it waits for the answer as long as the console lets it.
    enum Manner: String, CaseIterable {
        case silent, half, pages, calls, guesses, again
    }

    private static let tries = isLong ? 10 : 3

    private let script = """
        import selectors, socket, sys, threading, time
        path, host, manner, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
        body = b'{"passphrase":"wrong horse"}'
        def get(path): return ('GET %s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' % (path, host)).encode()
        guess = (('POST /api/v1/session HTTP/1.1\\r\\nHost: %s\\r\\nOrigin: http://%s\\r\\nonionbell-console: 1\\r\\n'
            'content-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n') % (host, host, len(body))).encode() + body
        words = {'silent': b'', 'half': get('/')[:-2], 'pages': get('/'), 'calls': get('/api/v1/state'), 'guesses': guess,
            'again': get('/') * 40}[manner]
        begun = 0
        def dial():
            global begun
            begun += 1
            circuit = begun
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(60)
            one.connect(path)
            one.sendall(b'PROXY TCP6 fc00:dead:beef:4dad::%x:%x ::1 %d 80\\r\\n'
                % (circuit >> 16, circuit & 0xffff, circuit & 0xffff))
            return one
        ear = selectors.DefaultSelector()
        lock = threading.Lock()
        def crowd():
            start = time.monotonic()
            while True:
                time.sleep(max(0, start + begun / 200 - time.monotonic()))
                try:
                    one = dial()
                    one.sendall(words)
                    ear.register(one, selectors.EVENT_READ)
                except OSError: pass
        def hear():
            while True:
                for key, _ in ear.select(0.1):
                    try:
                        if key.fileobj.recv(65536): continue
                    except OSError: pass
                    ear.unregister(key.fileobj)
                    key.fileobj.close()
        for work in crowd, hear: threading.Thread(target=work, daemon=True).start()
        def others(count):
            until = begun + count
            while begun < until: time.sleep(0.001)
        others(600)
        print('crowded', flush=True)
        for _ in range(rounds):
            # Over Tor a request comes a moment after its circuit.
            one = dial()
            others(100)
            asked = time.monotonic()
            try:
                one.sendall(get('/'))
                told = one.recv(12)
            except OSError as error: told = repr(error).encode()
            print('in' if told == b'HTTP/1.1 200' else 'out', told, '%.3f s' % (time.monotonic() - asked), flush=True)
            one.close()
            others(100)
        print('over', begun, flush=True)
        """

    /// Six seconds each: so long it takes until all places are in use, and a request over Tor comes.
    @Test(arguments: isLong ? Manner.allCases : [.silent, .pages, .guesses])
    func aNewCircuitGetsInBesideTwoHundredASecond(manner: Manner) async throws {
        let stage = try LoopbackStage {
            $0.replacing("guarded: false", with: "guarded: true") + "console: {listen: [onion]}\n"
        }
        try await stage.start()
        let file = stage.world.state + "/console-link"
        try await until { FileManager.default.fileExists(atPath: file) }
        let link = try String(contentsOfFile: file, encoding: .utf8)
        let host = try #require(link.components(separatedBy: "/#enter=").first).dropFirst("http://".count)
        let crowd = try LabProgram([
            "python3", "-c", script, stage.world.state + "/sockets/console", String(host), manner.rawValue,
            "\(Self.tries)",
        ])
        await crowd.wait { $0.exit != nil }
        let lines = crowd.lines
        #expect(
            lines.last?.hasPrefix("over") == true
                && lines.count { $0.hasPrefix("in ") } >= (isLong ? Self.tries - 1 : Self.tries), "\(lines)")
        if isLong { print(manner, lines) }
        await stage.close()
    }
}
