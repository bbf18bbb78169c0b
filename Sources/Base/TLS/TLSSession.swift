import COpenSSL

/// One end of a TLS connection without a socket: bytes in, bytes out.
///
/// After each call, whatever ``takeOutput(into:)`` gives belongs on the wire, also when the session has failed: the
/// last bytes are the alert that tells the peer why. One owner, one isolation.
package final class TLSSession {
    package enum State: Equatable, Sendable {
        case handshaking
        /// Both ends have proved what they must; ``write(_:)`` may be called.
        case open
        /// One end has said that nothing more comes (close_notify).
        case closed
        case failed(TLSError)
    }

    package private(set) var state = State.handshaking
    /// The protocol that ALPN agreed on; `nil` before the session is open, or without ALPN.
    package private(set) var negotiatedProtocol: String?
    private let context: TLSContext
    private let transport = MemoryTransport()
    // Owned, freed in deinit together with its BIO.
    let handle: OpaquePointer
    // Owned, freed in deinit: room for the plain text of one record.
    private let record = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    private var isReceiving = false

    /// Makes a client's end. Its first bytes are ready to be taken.
    ///
    /// - Parameter name: host name or IP address that the server's certificate must bear, as a subject alternative
    ///   name; a common name does not count.
    package init(to name: String, _ context: TLSContext) throws(TLSError) {
        precondition(!context.isServer, "a server's context can't make a client's session")
        self.context = context
        handle = Self.makeHandle(context, transport)
        ERR_clear_error()
        SSL_set_hostflags(
            handle, CUnsignedInt(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), name) == 1
        ERR_clear_error()
        guard
            isAddress
                || !name.isEmpty && SSL_set1_host(handle, name) == 1
                    && onionbell_SSL_set_tlsext_host_name(handle, name) == 1
        else { throw .unusable("host name") }
        SSL_set_connect_state(handle)
        shakeHands()
    }

    /// Makes a server's end.
    package init(serving context: TLSContext) {
        precondition(context.isServer, "a client's context can't make a server's session")
        self.context = context
        handle = Self.makeHandle(context, transport)
        SSL_set_accept_state(handle)
    }

    deinit {
        SSL_free(handle)
        record.deallocate()
    }

    private static func makeHandle(_ context: TLSContext, _ transport: MemoryTransport) -> OpaquePointer {
        guard let handle = SSL_new(context.handle) else {
            preconditionFailure("out of memory for a TLS session")
        }
        let bio = transport.makeBIO()
        // Takes the BIO: it is freed with the session.
        SSL_set_bio(handle, bio, bio)
        return handle
    }

    /// Takes what came from the peer, all of it, and hands on the plain text in it, record by record.
    ///
    /// `deliver` gets up to 16 KiB at a time, valid during the call only; it may call ``write(_:)``, ``close()`` and
    /// ``takeOutput(into:)``. Plain text can come in the very call that opens the session. Ciphertext that comes
    /// after the end of the session is ignored.
    package func receive(_ ciphertext: RawSpan, deliver: (RawSpan) -> Void) {
        precondition(!isReceiving, "a session can't receive while it delivers")
        isReceiving = true
        defer { isReceiving = false }
        ciphertext.withUnsafeBytes { bytes in
            transport.input = bytes
            if state == .handshaking { shakeHands() }
            while state == .open, readRecord(deliver) {}
            transport.input = UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// Seals `plaintext`, in records of 16 KiB as far as it fills them. Does nothing once the session has ended.
    package func write(_ plaintext: RawSpan) {
        precondition(state != .handshaking, "a session can't write before it is open")
        guard state == .open, plaintext.byteCount > 0 else { return }
        plaintext.withUnsafeBytes { bytes in
            ERR_clear_error()
            var written = 0
            let code = SSL_write_ex(handle, bytes.baseAddress, bytes.count, &written)
            guard code == 1, written == bytes.count else { return fail() }
        }
    }

    package func write(_ plaintext: [UInt8]) { write(plaintext.span.bytes) }

    /// Says that nothing more comes (close_notify). What the peer still sends is ignored.
    package func close() {
        switch state {
        case .open:
            ERR_clear_error()
            SSL_shutdown(handle)
            ERR_clear_error()
            state = .closed
        case .handshaking: state = .closed
        case .closed, .failed: break
        }
    }

    package var hasOutput: Bool { !transport.output.isEmpty }

    /// Appends what is to be sent to the peer.
    package func takeOutput(into bytes: inout [UInt8]) {
        if bytes.isEmpty {
            swap(&bytes, &transport.output)
            transport.output.removeAll(keepingCapacity: true)
        } else {
            bytes += transport.output
            transport.output.removeAll(keepingCapacity: true)
        }
    }

    /// Lets go of the room for output while there is none.
    package func dropSpareRoom() { if !hasOutput { transport.output = [] } }

    /// The certificate that the peer showed and that was verified, if it showed one.
    package var peerCertificatePEM: [UInt8]? {
        guard state == .open, let certificate = SSL_get1_peer_certificate(handle) else { return nil }
        defer { X509_free(certificate) }
        guard let file = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(file) }
        guard PEM_write_bio_X509(file, certificate) == 1 else { return nil }
        var start: UnsafePointer<UInt8>?
        let count = onionbell_BIO_get_mem_data(file, &start)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    private func shakeHands() {
        ERR_clear_error()
        let code = SSL_do_handshake(handle)
        guard code == 1 else {
            if SSL_get_error(handle, code) != SSL_ERROR_WANT_READ { fail() }
            return
        }
        var name: UnsafePointer<UInt8>?
        var length: CUnsignedInt = 0
        SSL_get0_alpn_selected(handle, &name, &length)
        if let name, length > 0 {
            negotiatedProtocol = String(
                decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
        }
        state = .open
    }

    /// Reads the next record, and delivers its plain bytes; returns whether there may be another one.
    private func readRecord(_ deliver: (RawSpan) -> Void) -> Bool {
        ERR_clear_error()
        var count = 0
        let code = SSL_read_ex(handle, record.baseAddress, record.count, &count)
        if code == 1 {
            deliver(UnsafeRawBufferPointer(rebasing: record[..<count]).bytes)
            return true
        }
        switch SSL_get_error(handle, code) {
        case SSL_ERROR_WANT_READ: break
        // The peer's close_notify: answered, and the end.
        case SSL_ERROR_ZERO_RETURN: close()
        default: fail()
        }
        return false
    }

    private func fail() { state = .failed(.cause(of: handle)) }
}

extension TLSSession {
    /// Updates the own key and asks the peer to do so too, as long-lived TLS 1.3 connections may at any time.
    func updateKeys() {
        ERR_clear_error()
        SSL_key_update(handle, SSL_KEY_UPDATE_REQUESTED)
    }
}
