import CSQLite
import Foundation

/// What SQLite asks of the disk for the files of a directory, in order, so that a power cut can be played at any point
/// of it: see ``Disk``.
///
/// It is a VFS before SQLite's own, which still does the work; files elsewhere are none of its business.
/// `@unchecked Sendable`: `operations` is guarded by `lock`.
final class DiskTrace: @unchecked Sendable {
    enum Operation {
        case create(name: String)
        case write(name: String, offset: Int, bytes: [UInt8])
        case truncate(name: String, size: Int)
        case sync(name: String)
        /// The disk said that it had not, and what was written before is lost without another word.
        case failedSync(name: String)
        /// `isDurable`: the directory is synced with it.
        case delete(name: String, isDurable: Bool)
    }

    private let directory: String
    private let lock = NSLock()
    private var operations: [Operation] = []
    private var failing: Int
    private var syncs = 0

    /// Traces what is opened below `directory` from now on.
    ///
    /// - Parameter failing: Each so manieth sync fails; 0: none does.
    init(directory: String, failing: Int = 0) {
        self.directory = directory
        self.failing = failing
        TracingVFS.add(self)
    }

    var all: [Operation] { lock.withLock { operations } }
    /// How many operations there have been.
    var position: Int { lock.withLock { operations.count } }

    /// From now on each so manieth sync fails.
    func fail(each number: Int) { lock.withLock { failing = number } }

    /// From now on no sync fails.
    func heal() { fail(each: 0) }

    fileprivate func failsSync() -> Bool {
        lock.withLock {
            syncs += 1
            return failing > 0 && syncs.isMultiple(of: failing)
        }
    }

    fileprivate func append(_ operation: Operation) { lock.withLock { operations.append(operation) } }

    /// The file's name in the directory; `nil` for one that lies elsewhere.
    fileprivate func name(_ path: String) -> String? {
        path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.utf8.count + 1)) : nil
    }
}

/// `SQLITE_IOERR_FSYNC`, which is no constant to Swift.
private let failedSync: Int32 = SQLITE_IOERR | 4 << 8

private enum TracingVFS {
    /// Behind SQLite's own part of each open file.
    private struct Trailer {
        var methods: sqlite3_io_methods
        let real: UnsafePointer<sqlite3_io_methods>
        let trace: Unmanaged<DiskTrace>
        let name: Unmanaged<NSString>
    }

    // Set once, before SQLite knows of them.
    nonisolated(unsafe) private static let real = sqlite3_vfs_find(nil)!
    private static let lock = NSLock()
    nonisolated(unsafe) private static var traces: [DiskTrace] = []

    static func add(_ trace: DiskTrace) {
        precondition(isInstalled)
        lock.withLock { traces.append(trace) }
    }

    private static let isInstalled: Bool = {
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: real.pointee)
        vfs.pointee.zName = UnsafePointer(strdup("onionbell-trace"))
        vfs.pointee.pNext = nil
        vfs.pointee.szOsFile += Int32(MemoryLayout<Trailer>.stride)
        vfs.pointee.xOpen = { _, path, file, flags, taken in
            TracingVFS.open(path, file, flags, taken)
        }
        vfs.pointee.xDelete = { _, path, syncsDirectory in
            let code = TracingVFS.real.pointee.xDelete(TracingVFS.real, path, syncsDirectory)
            if code == SQLITE_OK, let path, let (trace, name) = TracingVFS.find(String(cString: path)) {
                trace.append(.delete(name: name, isDurable: syncsDirectory != 0))
            }
            return code
        }
        return sqlite3_vfs_register(vfs, 1) == SQLITE_OK
    }()

    private static func find(_ path: String) -> (DiskTrace, String)? {
        for trace in lock.withLock({ traces }) {
            if let name = trace.name(path) { return (trace, name) }
        }
        return nil
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ taken: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let found = path.flatMap { find(String(cString: $0)) }
        let isNew = path.map { access($0, F_OK) != 0 } ?? false
        let code = real.pointee.xOpen(real, path, file, flags, taken)
        guard code == SQLITE_OK, let (trace, name) = found, let file, let methods = file.pointee.pMethods
        else { return code }
        if isNew { trace.append(.create(name: name)) }
        var traced = methods.pointee
        traced.xWrite = { file, bytes, count, offset in
            let trailer = TracingVFS.trailer(of: file)
            let code = trailer.pointee.real.pointee.xWrite(file, bytes, count, offset)
            if code == SQLITE_OK {
                let bytes = Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                TracingVFS.append(trailer) { .write(name: $0, offset: Int(offset), bytes: bytes) }
            }
            return code
        }
        traced.xTruncate = { file, size in
            let trailer = TracingVFS.trailer(of: file)
            let code = trailer.pointee.real.pointee.xTruncate(file, size)
            if code == SQLITE_OK { TracingVFS.append(trailer) { .truncate(name: $0, size: Int(size)) } }
            return code
        }
        traced.xSync = { file, flags in
            let trailer = TracingVFS.trailer(of: file)
            guard !trailer.pointee.trace.takeUnretainedValue().failsSync() else {
                TracingVFS.append(trailer) { .failedSync(name: $0) }
                return failedSync
            }
            let code = trailer.pointee.real.pointee.xSync(file, flags)
            if code == SQLITE_OK { TracingVFS.append(trailer) { .sync(name: $0) } }
            return code
        }
        // The trace and the name are kept for ever: a test's are few.
        let place = trailer(of: file)
        place.initialize(
            to: Trailer(
                methods: traced, real: methods, trace: .passRetained(trace),
                name: .passRetained(name as NSString)))
        file.pointee.pMethods = UnsafePointer(place.pointer(to: \.methods)!)
        return code
    }

    private static func trailer(of file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<Trailer>
    {
        (UnsafeMutableRawPointer(file!) + Int(real.pointee.szOsFile)).assumingMemoryBound(to: Trailer.self)
    }

    private static func append(
        _ trailer: UnsafeMutablePointer<Trailer>, _ operation: (String) -> DiskTrace.Operation
    ) {
        let name = trailer.pointee.name.takeUnretainedValue() as String
        trailer.pointee.trace.takeUnretainedValue().append(operation(name))
    }
}
