import Crypto
import Foundation
import PostgreSQL
import Reactor
import Relay
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence

/// A database on another machine: it proves who it is, and the node does.
@Suite(.serialized) struct DatabaseLineTests {
    private static let server = Result { try PostgreSQLServer(withTLS: true) }
    private let server: PostgreSQLServer
    private let password = Array(PostgreSQLServer.password.utf8)

    init() throws { server = try Self.server.get() }

    private func place(_ url: String, password: [UInt8]?) -> DatabasePlace {
        DatabasePlace(
            PostgreSQLAddress(url: url, password: password.map { Secret($0) }), key: Directory.key(7),
            owner: [1], name: "node",
            version: "1")
    }

    @Test func aServerThatProvesWhoItIsIsTaken() async throws {
        let url = server.url(try server.makeDatabase(), host: "db.example", authority: "ca")
        let outbox = try await OutboxStore(place(url, password: password))
        #expect(try await outbox.commit([.store(request(1))]) == [.stored(sequence: 1)])
        #expect(
            try server.psql(
                "postgres",
                "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL")
                == "t")
        await outbox.close()
    }

    @Test(arguments: [
        ("db.example", "stranger", "has not signed the server's certificate"),
        ("other.example", "ca", "The certificate is for another host than storage.url names"),
        ("db.example", "none", "Put the certificate of the authority"),
    ])
    func aServerThatDoesNotIsRefused(host: String, authority: String, words: String) async {
        await expectWords(words, of: server.url("postgres", host: host, authority: authority))
    }

    private func expectWords(_ words: String, of url: String, line: SourceLocation = #_sourceLocation) async {
        do {
            _ = try await OutboxStore(place(url, password: password))
            Issue.record("it was taken", sourceLocation: line)
        } catch {
            #expect("\(error)".contains(words), "\(error)", sourceLocation: line)
        }
    }

    @Test func eachTroubleWithADateHasItsOwnWords() async throws {
        let own = try PostgreSQLServer(withTLS: true)
        let (past, later) = (
            1_000_000_000...1_100_000_000 as ClosedRange<Int64>,
            4_000_000_000...4_100_000_000 as ClosedRange<Int64>
        )
        let authority = try CertificateAuthority()
        let ended = try CertificateAuthority(validity: past)
        // The server started with files of these names: their owner and their rights stay.
        func write(_ bytes: [UInt8], _ name: String) throws {
            try String(decoding: bytes, as: UTF8.self)
                .write(toFile: "\(own.directory)/\(name)", atomically: false, encoding: .utf8)
        }
        func serve(_ identity: Identity) throws {
            try own.stopImmediately()
            try write(identity.chainPEM(), "server.crt")
            try write(identity.keyPEM().bytes, "server.key")
            try own.start()
        }
        try write(authority.rootPEM(), "authority.crt")
        try write(ended.rootPEM(), "ended.crt")
        let url = own.url("postgres", host: "db.example", authority: "authority")
        for (validity, words) in [
            (past, "Give the database server a new certificate"),
            (later, "The certificate becomes good later"),
        ] {
            try serve(authority.server(names: ["db.example"], validity: validity))
            await expectWords(words, of: url)
        }
        try serve(ended.server(names: ["db.example"]))
        await expectWords(
            "Put the authority's new certificate into the file",
            of: own.url("postgres", host: "db.example", authority: "ended"))

        // The node's own certificate, which this server asks for.
        try serve(authority.server(names: ["db.example"]))
        try own.psql("postgres", "ALTER SYSTEM SET ssl_ca_file = '\(own.directory)/authority.crt'")
        try write(Array("local all all trust\nhostssl all all all cert map=node\n".utf8), "data/pg_hba.conf")
        try write(Array("node \"Push Services\" onionbell\n".utf8), "data/pg_ident.conf")
        try serve(authority.server(names: ["db.example"]))
        await expectWords("The server wants a certificate of this node", of: url)
        let client = url + "&sslcert=\(own.directory)/node.crt&sslkey=\(own.directory)/node.key"
        for (issuer, validity, words) in [
            (authority, past, "which is this node's, has expired"),
            (try CertificateAuthority(), nil, "does not know the authority of the certificate in sslcert"),
        ] as [(CertificateAuthority, ClosedRange<Int64>?, String)] {
            let identity = try issuer.client(topic: "x", validity: validity)
            try write(identity.chainPEM(), "node.crt")
            try write(identity.keyPEM().bytes, "node.key")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: own.directory + "/node.key")
            await expectWords(words, of: client)
        }
        let good = try authority.client(topic: "x")
        try write(good.chainPEM(), "node.crt")
        try write(good.keyPEM().bytes, "node.key")
        await (try await OutboxStore(place(client, password: nil))).close()
    }

    @Test(arguments: [nil, Array("another word".utf8)])
    func withoutThePasswordTheNodeIsRefused(_ password: [UInt8]?) async throws {
        let url = server.url("postgres", host: "db.example", authority: "ca")
        do {
            _ = try await OutboxStore(place(url, password: password))
            Issue.record("it was taken")
        } catch {
            #expect("\(error)".contains("password") && !"\(error)".contains("another word"), "\(error)")
        }
    }

    /// TLS reads whole records, which may be longer than what libpq has room for: the rest is there, and the socket is empty.
    @Test func whatTLSHasReadIsNotWaitedFor() async throws {
        let (lines, said) = AsyncStream.makeStream(of: String.self)
        let proxy = try await ChildProcess(
            ["python3", "-c", Self.proxy, server.directory, "\(server.port)"], onLine: { said.yield($0) },
            onExit: { said.yield("\($0)") })
        defer { withExtendedLifetime(proxy) {} }
        let line = try #require(await lines.first { _ in true })
        let port = try #require(Int(line), "\(line)")
        let url =
            "postgresql://onionbell@db.example:\(port)/postgres?hostaddr=127.0.0.1&sslrootcert=\(server.directory)/ca.crt"
        let connection = try PostgreSQLConnection(PostgreSQLAddress(url: url))
        connection.patience = 5000
        for count in 1...30 {
            let statement = PostgreSQLStatement(
                "SELECT repeat('x', 3000) FROM generate_series(1, \(count))", on: connection)
            var rows = 0
            while try statement.step() { rows += 1 }
            #expect(rows == count)
        }
    }

    /// Speaks TLS with the node, in the longest records that there are, and hands on what is in them.
    private static let proxy = """
        import select, socket, ssl, sys
        directory, port = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory + "/server.crt", directory + "/server.key")
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        client, _ = listener.accept()
        client.recv(8)
        client.sendall(b"S")
        client = context.wrap_socket(client, server_side=True)
        server = socket.socket(socket.AF_UNIX)
        server.connect(directory + "/.s.PGSQL." + port)
        while True:
            if client.pending() or select.select([client, server], [], [])[0] == [client]:
                read = client.recv(65536)
                if not read: break
                server.sendall(read)
                continue
            answer = b""
            while select.select([server], [], [], 0.02)[0]:
                read = server.recv(65536)
                if not read: sys.exit()
                answer += read
            client.sendall(answer)
        """
}
