import COpenSSL
import Crypto
import Testing

@testable import TLS

@Suite struct TLSSessionTests {
    /// Whatever the reads, the bytes are the same.
    @Test(arguments: [1...1, 1...7, 1...5_000, 16_384...70_000])
    func bytesArriveHoweverTheyAreCut(pieces: ClosedRange<Int>) throws {
        let pair = try TLSWorld.shared.pair(pieces: pieces)
        pair.run()
        #expect(pair.client.state == .open)
        #expect(pair.server.state == .open)
        #expect(pair.client.negotiatedProtocol == "h2")
        #expect(pair.server.negotiatedProtocol == "h2")
        let question = randomBytes(pieces.upperBound > 10 ? 100_000 : 20_000)
        let answer = randomBytes(33_000)
        pair.client.write(question)
        pair.server.write(answer)
        pair.run()
        #expect(pair.atServer == question)
        #expect(pair.atClient == answer)
        pair.server.close()
        pair.run()
        #expect(pair.client.state == .closed)
        #expect(pair.server.state == .closed)
        // After the end nothing is sent.
        pair.client.write([1])
        #expect(!pair.client.hasOutput)
    }

    @Test(arguments: ["push.example", "127.0.0.1", "::1"])
    func namesAndAddressesOfTheCertificateAreAccepted(name: String) throws {
        let pair = try TLSWorld.shared.pair(to: name)
        pair.run()
        #expect(pair.client.state == .open)
    }

    @Test(arguments: ["other.example", "push.example.org", "127.0.0.2", "::2", "example", "Onionbell Lab"])
    func anotherNameIsRefusedOnBothEnds(name: String) throws {
        let pair = try TLSWorld.shared.pair(to: name)
        pair.run()
        guard case .failed(.untrusted(.wrongName, let reason)) = pair.client.state else {
            Issue.record("the client is \(pair.client.state)")
            return
        }
        #expect(reason.contains("mismatch"))
        // The alert tells the server (42: bad certificate).
        guard case .failed(.refusedByPeer(alert: 42, _)) = pair.server.state else {
            Issue.record("the server is \(pair.server.state)")
            return
        }
    }

    @Test func theCommonNameDoesNotCount() throws {
        let world = TLSWorld.shared
        let server = try TLSContext(
            serverWith: try world.authority.client(topic: "x").credentials, protocols: [])
        let pair = TLSPair(
            client: try TLSSession(to: "Push Services", world.client), server: TLSSession(serving: server))
        pair.run()
        guard case .failed(.untrusted) = pair.client.state else {
            Issue.record("the client is \(pair.client.state)")
            return
        }
    }

    /// A renewal half-way through, and files whose certificates stand in the wrong order.
    @Test func aKeyOfAnotherCertificateIsRefusedWithWords() throws {
        let authority = TLSWorld.shared.authority
        let (one, other) = (
            try authority.server(names: ["a.example"]).credentials,
            try authority.server(names: ["a.example"]).credentials
        )
        func reason(_ chain: [UInt8], _ key: [UInt8]) -> String {
            do throws(TLSError) {
                _ = try TLSContext(serverWith: TLSCredentials(chainPEM: chain, keyPEM: key), protocols: [])
                return "taken"
            } catch {
                return "\(error)"
            }
        }
        #expect(reason(one.chainPEM, other.keyPEM).contains("do not belong together"))
        #expect(reason(other.chainPEM + one.chainPEM, one.keyPEM).contains("must be the first one"))
        #expect(reason(one.chainPEM + other.chainPEM, one.keyPEM) == "taken")
    }

    @Test func anExpiredCertificateIsRefused() throws {
        let world = TLSWorld.shared
        for (validity, fault) in [
            (1_000...2_000_000, TrustFault.expired), (4_000_000_000...5_000_000_000, .notYetValid),
        ] as [(ClosedRange<Int64>, TrustFault)] {
            let identity = try world.authority.server(names: ["push.example"], validity: validity)
            let server = try TLSContext(serverWith: identity.credentials, protocols: ["h2"])
            let pair = TLSPair(
                client: try TLSSession(to: "push.example", world.client), server: TLSSession(serving: server))
            pair.run()
            guard case .failed(.untrusted(fault, _)) = pair.client.state else {
                Issue.record("the client is \(pair.client.state)")
                continue
            }
        }
    }

    @Test func anUnknownAuthorityIsRefused() throws {
        let world = TLSWorld.shared
        let stranger = try CertificateAuthority(name: "Stranger")
        for (identity, faults) in [
            (try stranger.server(names: ["push.example"]), [TrustFault.unknownAuthority]),
            (stranger.root, [.selfSigned]),
        ] {
            let server = try TLSContext(serverWith: identity.credentials, protocols: ["h2"])
            for trust in [TLSTrust.authorities(pem: try world.authority.rootPEM()), .systemRoots] {
                let client = try TLSContext(trusting: trust, protocols: ["h2"])
                let pair = TLSPair(
                    client: try TLSSession(to: "push.example", client), server: TLSSession(serving: server))
                pair.run()
                guard case .failed(.untrusted(let fault, _)) = pair.client.state, faults.contains(fault)
                else {
                    Issue.record("the client is \(pair.client.state)")
                    continue
                }
            }
        }
    }

    @Test func withoutACommonProtocolNeitherEndOpens() throws {
        let world = TLSWorld.shared
        let client = try TLSContext(
            trusting: .authorities(pem: try world.authority.rootPEM()), protocols: ["spdy/3"])
        let pair = TLSPair(
            client: try TLSSession(to: "push.example", client), server: TLSSession(serving: world.server))
        pair.run()
        // 120: no application protocol.
        guard case .failed(.refusedByPeer(alert: 120, _)) = pair.client.state else {
            Issue.record("the client is \(pair.client.state)")
            return
        }
    }

    @Test func aClientCertificateReachesTheServer() throws {
        let world = TLSWorld.shared
        let identity = try world.authority.client(topic: "org.example.app")
        let client = try TLSContext(
            trusting: .authorities(pem: try world.authority.rootPEM()), protocols: ["h2"],
            credentials: identity.credentials)
        let pair = TLSPair(
            client: try TLSSession(to: "push.example", client), server: TLSSession(serving: world.server))
        pair.run()
        let pem = try #require(pair.server.peerCertificatePEM)
        #expect(try Certificate(pem: pem).userID == "org.example.app")
        let anonymous = try world.pair()
        anonymous.run()
        #expect(anonymous.server.peerCertificatePEM == nil)
    }

    @Test func aClientCertificateOfAStrangerIsRefused() throws {
        let world = TLSWorld.shared
        let stranger = try CertificateAuthority(name: "Stranger")
        let client = try TLSContext(
            trusting: .authorities(pem: try world.authority.rootPEM()), protocols: ["h2"],
            credentials: try stranger.client(topic: "org.example.app").credentials)
        let pair = TLSPair(
            client: try TLSSession(to: "push.example", client), server: TLSSession(serving: world.server))
        pair.run()
        guard case .failed(.untrusted) = pair.server.state, case .failed(.refusedByPeer) = pair.client.state
        else {
            Issue.record("\(pair.server.state), \(pair.client.state)")
            return
        }
    }

    /// An RSA certificate beside an EC key, and the reverse: OpenSSL takes both, and each handshake fails.
    @Test(arguments: [SigningKey.Algorithm.es256, .rs256])
    func aKeyThatIsNotTheCertificatesIsRefused(_ kind: SigningKey.Algorithm) throws {
        let own = try TLSWorld.shared.authority.server(names: ["push.example"]).credentials
        let other = TLSCredentials(
            chainPEM: own.chainPEM, keyPEM: try SigningKey.generate(kind).privatePEM().bytes)
        #expect(throws: TLSError.self) { try TLSContext(serverWith: other, protocols: ["http/1.1"]) }
        #expect(throws: TLSError.self) {
            try TLSContext(trusting: .systemRoots, protocols: ["h2"], credentials: other)
        }
        try TLSContext(serverWith: own, protocols: ["http/1.1"]).prove()
        try TLSWorld.shared.server.prove()
    }

    @Test func bytesThatAreNotTLSAreRefused() throws {
        let session = try TLSSession(to: "push.example", TLSWorld.shared.client)
        session.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).span.bytes) { _ in
            Issue.record("plain text came out of nothing")
        }
        guard case .failed(.broken) = session.state else {
            Issue.record("the client is \(session.state)")
            return
        }
    }

    @Test func aChangedByteEndsTheSession() throws {
        let pair = try TLSWorld.shared.pair()
        pair.run()
        pair.client.write([1, 2, 3])
        var bytes: [UInt8] = []
        pair.client.takeOutput(into: &bytes)
        bytes[bytes.count - 1] ^= 1
        pair.server.receive(bytes.span.bytes) { _ in Issue.record("a forged record was delivered") }
        guard case .failed(.broken) = pair.server.state else {
            Issue.record("the server is \(pair.server.state)")
            return
        }
        #expect(pair.server.hasOutput)
    }

    /// A peer may change its keys at any time (RFC 8446, 4.6.3) and ask the same of us.
    @Test func newKeysInMidStreamChangeNothing() throws {
        let pair = try TLSWorld.shared.pair(pieces: 1...400)
        pair.run()
        pair.client.write([1])
        pair.client.updateKeys()
        pair.client.write([2])
        pair.server.write([3])
        pair.run()
        pair.server.write([4])
        pair.run()
        #expect(pair.atServer == [1, 2])
        #expect(pair.atClient == [3, 4])
        #expect(pair.client.state == .open)
    }

    @Test func anAnswerMayBeWrittenWhileBytesAreDelivered() throws {
        let pair = try TLSWorld.shared.pair()
        pair.run()
        let server = pair.server
        pair.onServer = { server.write($0) }
        let bytes = randomBytes(50_000)
        pair.client.write(bytes)
        pair.run()
        #expect(pair.atClient == bytes)
    }

    /// With TLS 1.2: forward secrecy and AEAD, or nothing.
    @Test(arguments: [
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-AES256-GCM-SHA384", true),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", true), ("ECDHE-ECDSA-AES128-SHA256", false),
        ("ECDHE-ECDSA-AES256-SHA", false), ("ECDHE-ECDSA-AES128-CCM", false),
    ])
    func aServerTakesStrongCiphersOnly(cipher: String, isTaken: Bool) throws {
        let client = try TLSContext(
            trusting: .authorities(pem: try TLSWorld.shared.authority.rootPEM()), protocols: ["h2"])
        #expect(SSL_CTX_set_cipher_list(client.handle, cipher) == 1)
        #expect(SSL_CTX_ctrl(client.handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1)
        let pair = TLSPair(
            client: try TLSSession(to: "push.example", client),
            server: TLSSession(serving: TLSWorld.shared.server))
        pair.run()
        #expect((pair.client.state == .open) == isTaken)
        guard isTaken else { return }
        #expect(SSL_SESSION_has_ticket(SSL_get_session(pair.client.handle)) == 0)
    }

    @Test func aDamagedSecondCertificateIsAnError() throws {
        let identity = try TLSWorld.shared.authority.server(names: ["push.example"])
        let whole = try identity.chainPEM() + (try TLSWorld.shared.authority.rootPEM())
        let key = try identity.keyPEM().bytes
        _ = try TLSContext(serverWith: TLSCredentials(chainPEM: whole, keyPEM: key), protocols: [])
        // What an editor leaves behind at the end is no certificate.
        _ = try TLSContext(
            serverWith: TLSCredentials(chainPEM: whole + Array("\nbye\n".utf8), keyPEM: key), protocols: [])
        let damaged: [[UInt8]] = [
            Array(whole[..<(whole.count - 40)]), whole + Array("-----BEGIN CERTIFICATE-----\nMIIB\n".utf8),
        ]
        for chain in damaged {
            #expect(throws: TLSError.self) {
                try TLSContext(
                    serverWith: TLSCredentials(chainPEM: chain, keyPEM: key), protocols: [])
            }
        }
    }

    @Test func settingsThatCantBeUsedAreNamed() throws {
        let world = TLSWorld.shared
        #expect(throws: TLSError.self) {
            try TLSContext(trusting: .file(path: "/nowhere/ca.pem"), protocols: ["h2"])
        }
        #expect(throws: TLSError.self) {
            try TLSContext(trusting: .authorities(pem: [1, 2]), protocols: ["h2"])
        }
        let one = try world.authority.server(names: ["one.example"])
        let two = try world.authority.server(names: ["two.example"])
        let mixed = TLSCredentials(chainPEM: try one.chainPEM(), keyPEM: try two.keyPEM().bytes)
        #expect(throws: TLSError.self) { try TLSContext(serverWith: mixed, protocols: []) }
        do {
            _ = try TLSContext(trusting: .file(path: "/nowhere/ca.pem"), protocols: [])
        } catch {
            #expect("\(error)".hasPrefix("CA file /nowhere/ca.pem: "))
        }
    }
}
