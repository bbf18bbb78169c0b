import COpenSSL
import Glibc
import Synchronization

/// Certificates of authorities, read once for all contexts of clients that trust them. The system's are over a hundred, and take
/// 16 ms and 0.8 MB.
final class TrustStore: @unchecked Sendable {
    // Unchecked: OpenSSL's store has a lock of its own, and nothing is added after `init`.
    let handle: OpaquePointer
    /// The contexts that show no certificate, by their protocols.
    private let contexts = Mutex<[[String]: Weak<TLSContext>]>([:])

    private struct Key: Hashable {
        let trust: TLSTrust
        let version: FileVersion?
    }

    private static let stores = Mutex<[Key: Weak<TrustStore>]>([:])

    /// Returns the store of the authorities as they are now: one that somebody has, unless their file has changed.
    static func current(_ trust: TLSTrust) throws(TLSError) -> TrustStore {
        let key = Key(trust: trust, version: trust.path.map { FileVersion(of: $0) })
        if let store = stores.withLock({ $0[key]?.value }) { return store }
        let store = try TrustStore(trust)
        stores.withLock { stores in
            stores = stores.filter { $1.value != nil }
            stores[key] = Weak(store)
        }
        return store
    }

    private init(_ trust: TLSTrust) throws(TLSError) {
        ERR_clear_error()
        guard let handle = X509_STORE_new() else { throw .unusable("memory") }
        self.handle = handle
        switch trust {
        case .systemRoots:
            guard X509_STORE_set_default_paths(handle) == 1 else { throw .unusable("the system's CA files") }
        case .file(let path):
            guard X509_STORE_load_file(handle, path) == 1 else { throw .unusable("CA file \(path)") }
        case .authorities(let pem):
            let certificates = try TLSContext.certificates(in: pem, what: "CA certificates")
            defer { for certificate in certificates { X509_free(certificate) } }
            for certificate in certificates {
                // Counts a reference of its own.
                guard X509_STORE_add_cert(handle, certificate) == 1 else {
                    throw .unusable("CA certificates")
                }
            }
        }
    }

    deinit { X509_STORE_free(handle) }

    /// Returns the context for these protocols that somebody has, or the one that is made.
    func context(
        for protocols: [String], make: () throws(TLSError) -> TLSContext
    ) throws(TLSError) -> TLSContext {
        if let context = contexts.withLock({ $0[protocols]?.value }) { return context }
        let context = try make()
        contexts.withLock { $0[protocols] = Weak(context) }
        return context
    }
}

private struct Weak<Value: AnyObject & Sendable>: Sendable {
    weak let value: Value?

    init(_ value: Value) { self.value = value }
}

/// A file as it is at one moment: another one where it was changed.
private struct FileVersion: Hashable {
    private var numbers: [Int]

    /// Looks at a file; all that are not there are the same.
    init(of path: String) {
        var status = Glibc.stat()
        guard stat(path, &status) == 0 else {
            numbers = []
            return
        }
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}

extension TLSTrust {
    /// The file that the authorities are read from.
    fileprivate var path: String? {
        switch self {
        case .systemRoots:
            getenv(X509_get_default_cert_file_env()).map { String(cString: $0) }
                ?? X509_get_default_cert_file().map { String(cString: $0) }
        case .file(let path): path
        case .authorities: nil
        }
    }
}
