import Client
import Lab
import Processes
import Reactor
import Testing
import Wire

/// A node whose operator allows all hosts below one domain, and strangers who name hosts there that take connections and
/// never say a word.
@EventLoop
@Suite(.serialized) struct SilentServersTests {
    private static let domain = "push.example.com"
    private static let keys = "::A2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWAAAAAAAAAAAAAAAAAAAAAA"
    /// More than all places for new hosts together, at three lanes for each gateway.
    private static let crowd = 768

    /// A SOCKS proxy that leads to the Lab's push server by honest names, and to silence by all others.
    private static let proxy = """
        import asyncio, sys
        async def pump(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except OSError: pass
            writer.close()
        async def serve(reader, writer):
            try:
                await reader.readexactly((await reader.readexactly(2))[1])
                writer.write(b'\\5\\0')
                kind = (await reader.readexactly(4))[3]
                if kind == 3: host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
                else: host = '.'.join(map(str, await reader.readexactly(4)))
                port = int.from_bytes(await reader.readexactly(2), 'big')
                writer.write(b'\\5\\0\\0\\1\\0\\0\\0\\0\\0\\0')
                if host.startswith('silent'):
                    while await reader.read(65536): pass
                    return writer.close()
                if host.startswith('honest'): host, port = '127.0.0.1', int(sys.argv[1])
                there = await asyncio.open_connection(host, port)
                await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))
            except (OSError, asyncio.IncompleteReadError): writer.close()
        async def main():
            server = await asyncio.start_server(serve, '127.0.0.1', int(sys.argv[2]))
            print('listens', flush=True)
            await server.serve_forever()
        asyncio.run(main())
        """

    /// Who has taken something is delivered to at once beside them, also when its lane has gone with a restart.
    @Test func whoHasTakenSomethingIsNotShutOutBySilentServers() async throws {
        let honest = (0..<6).map { "honest\($0).\(Self.domain)" }
        let port = try freePort()
        let stage = try LoopbackStage(withWebPush: true, names: honest) {
            LoopbackStage.usual($0).replacing(
                "allowed_hosts: [", with: "allowed_hosts: [\"*.\(Self.domain)\", ")
                + "gateways: {proxy: \"socks5://127.0.0.1:\(port)\"}\n"
        }
        guard case .host(_, let server) = stage.world.web.endpoint else { return }
        let proxy = try LabProgram(["python3", "-c", Self.proxy, "\(server)", "\(port)"])
        await proxy.wait { $0.exit != nil || $0.lines.contains("listens") }
        try await stage.start()
        let key = try stage.world.vapidKey()
        var circuit: UInt32 = 0
        func answer(to token: String, awaitsOutcome: Bool = true) async throws -> MobileNotificationResponse {
            circuit += 1
            let peer = try await stage.dial(circuit: circuit)
            defer { peer.close() }
            var frame = request(Int(circuit), platform: .android, awaitsOutcome: awaitsOutcome)
            frame.deviceToken = token
            return awaitsOutcome ? try await peer.outcome(of: frame) : try await peer.send(frame)
        }
        func ring(_ words: String) async throws {
            for name in honest {
                // A browser of its own, which has the rate of one phone.
                let token = try stage.world.web.subscribe(for: key).token
                    .replacing("127.0.0.1:3A\(server)", with: name)
                let response = try await answer(to: token)
                #expect(response.status == .delivered, "\(words): \(response.reason)")
            }
        }
        var silent = 0
        func crowd(_ count: Int) async throws -> Int {
            var stored = 0
            for _ in 0..<count {
                silent += 1
                let token = "wp1:silent\(silent).\(Self.domain):2Fx\(Self.keys)"
                let response = try await answer(to: token, awaitsOutcome: false)
                if response.status == .stored { stored += 1 }
            }
            return stored
        }
        try await ring("before")
        for words in ["beside a crowd", "beside a crowd after a restart"] {
            let stored = try await crowd(Self.crowd)
            // They have all that there is, and again after the restart: what was stored of them waits.
            #expect(stored < Self.crowd && (silent > Self.crowd || stored > Self.crowd / 2), "\(stored)")
            for _ in 0..<5 {
                try await ring(words)
                _ = try await crowd(20)
            }
            guard words == "beside a crowd" else { break }
            await stage.node.stop()
            try await stage.start()
        }
        let exit = proxy.exit
        #expect(exit == nil)
        await stage.close()
        await proxy.kill()
    }
}
