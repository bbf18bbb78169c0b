import COpenSSL

/// A certificate with its private key, both in PEM: the certificate first, then those that lead to its authority.
package struct TLSCredentials: Sendable {
    package let chainPEM: [UInt8]
    package let keyPEM: [UInt8]

    package init(chainPEM: [UInt8], keyPEM: [UInt8]) {
        self.chainPEM = chainPEM
        self.keyPEM = keyPEM
    }
}

/// Whose signature on a peer's certificate counts.
package enum TLSTrust: Hashable, Sendable {
    case systemRoots
    /// A file of certificates in PEM.
    case file(path: String)
    /// The text of such a file.
    case authorities(pem: [UInt8])
}

/// The settings that all sessions of one kind share. TLS 1.2 or later; a client always verifies certificate and name.
package final class TLSContext: @unchecked Sendable {
    // Unchecked: set up in `init`, never changed afterwards; OpenSSL lets any thread make sessions from it.
    let handle: OpaquePointer
    let isServer: Bool
    /// The protocols, each with its length before it (RFC 7301), then a zero, as the callback gets only the
    /// beginning of the list. Owned, freed in deinit: no session outlives its context.
    private let protocolList: UnsafeMutableBufferPointer<UInt8>
    /// The authorities of a client, which stay as they are as long as somebody has them.
    private(set) var authorities: TrustStore?

    /// Makes a context for clients.
    ///
    /// - Parameters:
    ///   - protocols: for ALPN, the preferred first, such as `h2`. Empty: no ALPN.
    ///   - credentials: shown to a server that asks for them.
    /// - Throws: ``TLSError/unusable(what:reason:)``.
    package convenience init(
        trusting trust: TLSTrust, protocols: [String], credentials: TLSCredentials? = nil
    ) throws(TLSError) {
        try self.init(
            trusting: try TrustStore.current(trust), protocols: protocols, credentials: credentials)
    }

    /// Returns a context for clients that show no certificate: one that somebody has, where there is one.
    package static func shared(trusting trust: TLSTrust, protocols: [String]) throws(TLSError) -> TLSContext {
        let store = try TrustStore.current(trust)
        return try store.context(for: protocols) { () throws(TLSError) in
            try TLSContext(trusting: store, protocols: protocols, credentials: nil)
        }
    }

    private convenience init(
        trusting store: TrustStore, protocols: [String], credentials: TLSCredentials?
    ) throws(TLSError) {
        try self.init(TLS_client_method(), isServer: false, protocols: protocols)
        SSL_CTX_set_options(handle, onionbell_SSL_client_options())
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        authorities = store
        // Counts a reference of its own.
        SSL_CTX_set1_cert_store(handle, store.handle)
        if let credentials { try use(credentials) }
        if protocolList.count > 1 {
            // Returns 0 when all is well, unlike the rest of OpenSSL.
            let count = CUnsignedInt(protocolList.count - 1)
            let code = SSL_CTX_set_alpn_protos(handle, protocolList.baseAddress, count)
            guard code == 0 else { throw .unusable("ALPN list") }
        }
    }

    /// Makes a context for servers. With TLS 1.2 it takes only what keeps past connections secret when the
    /// key is lost, and no CBC: ECDHE with an AEAD cipher. No session tickets: their key would be another one
    /// to lose, and connections live long.
    ///
    /// - Parameters:
    ///   - protocols: for ALPN, the preferred first; a client that offers only others is refused.
    ///   - clientAuthorities: if given, clients are asked for a certificate. One that comes must be signed by these;
    ///     none is accepted too: see ``TLSSession/peerCertificatePEM``.
    package convenience init(
        serverWith credentials: TLSCredentials, protocols: [String], clientAuthorities: TLSTrust? = nil
    ) throws(TLSError) {
        try self.init(TLS_server_method(), isServer: true, protocols: protocols)
        SSL_CTX_set_options(handle, onionbell_SSL_server_options())
        guard SSL_CTX_set_num_tickets(handle, 0) == 1,
            SSL_CTX_set_cipher_list(handle, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
        else { throw .unusable("TLS ciphers") }
        try use(credentials)
        if let clientAuthorities {
            SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
            try take(clientAuthorities)
        }
        if protocolList.count > 1 {
            SSL_CTX_set_alpn_select_cb(handle, selectProtocol, protocolList.baseAddress)
        }
    }

    private init(_ method: OpaquePointer?, isServer: Bool, protocols: [String]) throws(TLSError) {
        ERR_clear_error()
        guard let handle = SSL_CTX_new(method) else { throw .unusable("TLS") }
        self.handle = handle
        self.isServer = isServer
        var list: [UInt8] = []
        for name in protocols { list += [UInt8(name.utf8.count)] + Array(name.utf8) }
        list.append(0)
        protocolList = .allocate(capacity: list.count)
        _ = protocolList.initialize(from: list)
        guard onionbell_SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION) == 1 else {
            throw .unusable("TLS 1.2")
        }
        // A server may have thousands of idle clients. A gateway's connections are few, and busy: they keep their room.
        if isServer { onionbell_SSL_CTX_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS)) }
        onionbell_SSL_CTX_session_cache_off(handle)
    }

    deinit {
        SSL_CTX_free(handle)
        protocolList.deallocate()
    }
}

extension TLSContext {
    /// Has a server take certificates of clients that these authorities have signed, and name them to clients.
    private func take(_ clientAuthorities: TLSTrust) throws(TLSError) {
        let store = try TrustStore.current(clientAuthorities)
        authorities = store
        SSL_CTX_set1_cert_store(handle, store.handle)
        switch clientAuthorities {
        case .systemRoots: break
        case .file(let path): SSL_CTX_set_client_CA_list(handle, SSL_load_client_CA_file(path))
        case .authorities(let pem):
            for certificate in try Self.certificates(in: pem, what: "CA certificates") {
                SSL_CTX_add_client_CA(handle, certificate)
                X509_free(certificate)
            }
        }
    }

    private func use(_ credentials: TLSCredentials) throws(TLSError) {
        ERR_clear_error()
        let chain = try Self.certificates(in: credentials.chainPEM, what: "certificate")
        defer { for certificate in chain { X509_free(certificate) } }
        let text = try Self.file(credentials.keyPEM)
        defer { BIO_free(text) }
        // The callback refuses a pass phrase: without it OpenSSL would ask at the terminal.
        guard let key = PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in -1 }, nil) else {
            throw .unusable("private key")
        }
        defer { EVP_PKEY_free(key) }
        // With keys of two kinds OpenSSL takes both, and each handshake would fail.
        guard X509_check_private_key(chain[0], key) == 1 else {
            let reason = TLSError.takeReason()
            let isFurtherOn = chain.dropFirst().contains { X509_check_private_key($0, key) == 1 }
            ERR_clear_error()
            throw .unusable(
                what: "certificate and key",
                reason: isFurtherOn
                    ? "the key's certificate must be the first one in the file"
                    : "they do not belong together (\(reason))")
        }
        // Each counts a reference of its own.
        guard SSL_CTX_use_certificate(handle, chain[0]) == 1, SSL_CTX_use_PrivateKey(handle, key) == 1 else {
            throw .unusable("certificate and key")
        }
        for certificate in chain.dropFirst() {
            guard onionbell_SSL_CTX_add1_chain_cert(handle, certificate) == 1 else {
                throw .unusable("certificate")
            }
        }
    }

    /// Reads the certificates of a text, at least one, each to be freed by the caller.
    ///
    /// - Throws: Also when a later one can't be read: a chain that is cut short would be found out by clients only.
    static func certificates(in pem: [UInt8], what: String) throws(TLSError) -> [OpaquePointer] {
        ERR_clear_error()
        let text = try file(pem)
        defer { BIO_free(text) }
        var certificates: [OpaquePointer] = []
        while let certificate = PEM_read_bio_X509(text, nil, nil, nil) { certificates.append(certificate) }
        // How PEM says that the text has come to its end.
        let end = ERR_peek_last_error()
        guard !certificates.isEmpty, ERR_GET_LIB(end) == ERR_LIB_PEM,
            ERR_GET_REASON(end) == PEM_R_NO_START_LINE
        else {
            for certificate in certificates { X509_free(certificate) }
            throw .unusable(certificates.isEmpty ? what : "\(what) \(certificates.count + 1) of the file")
        }
        ERR_clear_error()
        return certificates
    }

    /// Returns a copy that OpenSSL reads as a file, to be freed by the caller.
    private static func file(_ bytes: [UInt8]) throws(TLSError) -> OpaquePointer {
        guard let file = BIO_new(BIO_s_mem()) else { throw .unusable("memory") }
        guard
            bytes.isEmpty
                || BIO_write(file, bytes, CInt(clamping: bytes.count)) == CInt(clamping: bytes.count)
        else {
            BIO_free(file)
            throw .unusable("memory")
        }
        return file
    }
}

/// Chooses one of the client's protocols, as OpenSSL asks. `list` is the context's
/// ``TLSContext/protocolList``.
private func selectProtocol(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    length: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?, offeredLength: CUnsignedInt, list: UnsafeMutableRawPointer?
) -> CInt {
    guard let chosen, let length, let list = list?.assumingMemoryBound(to: UInt8.self) else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    var count = 0
    while list[count] != 0 { count += 1 + Int(list[count]) }
    var match: UnsafeMutablePointer<UInt8>?
    let code = SSL_select_next_proto(&match, length, list, CUnsignedInt(count), offered, offeredLength)
    // Points into our list, which outlives the session.
    chosen.pointee = UnsafePointer(match)
    return code == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
}
