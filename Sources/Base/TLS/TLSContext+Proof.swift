import COpenSSL

extension TLSContext {
    /// Makes a handshake between a session of this server and a client that takes any certificate: what it shows is shown to
    /// be usable.
    ///
    /// - Throws: Why the handshake failed.
    package func prove() throws(TLSError) {
        precondition(isServer, "a client's context shows nothing")
        ERR_clear_error()
        guard let visitors = SSL_CTX_new(TLS_client_method()) else { throw .unusable("TLS") }
        // A session counts a reference of its own.
        defer { SSL_CTX_free(visitors) }
        SSL_CTX_set_verify(visitors, SSL_VERIFY_NONE, nil)
        guard let client = SSL_new(visitors) else { throw .unusable("memory") }
        defer { SSL_free(client) }
        guard let server = SSL_new(handle) else { throw .unusable("memory") }
        defer { SSL_free(server) }
        var (near, far): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        guard BIO_new_bio_pair(&near, 0, &far, 0) == 1 else { throw .unusable("memory") }
        // Each session takes its end, and frees it.
        SSL_set_bio(client, near, near)
        SSL_set_bio(server, far, far)
        SSL_set_connect_state(client)
        SSL_set_accept_state(server)
        // TLS 1.3 takes three turns; a chain of many certificates fills the pair more than once.
        for _ in 0..<Self.mostTurns {
            let isDone = try (advance(client), advance(server))
            if isDone == (true, true) { return }
        }
        throw .broken(reason: "the handshake came to no end")
    }

    private static let mostTurns = 100

    private func advance(_ session: OpaquePointer) throws(TLSError) -> Bool {
        let code = SSL_do_handshake(session)
        guard code != 1 else { return true }
        guard [SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE].contains(SSL_get_error(session, code)) else {
            throw TLSError.cause(of: session)
        }
        return false
    }
}
