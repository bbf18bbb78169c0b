import Glibc
import Synchronization

public enum FileAttributeKey: Hashable, Sendable {
    case size, posixPermissions
}

extension FileManager {
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw FileError(path: path, number: errno) }
        return [.size: Int(status.st_size), .posixPermissions: Int(status.st_mode & 0o7777)]
    }

    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        guard let mode = attributes[.posixPermissions] as? Int, chmod(path, mode_t(mode)) == 0 else {
            throw FileError(path: path, number: errno)
        }
    }

    public func createFile(atPath path: String, contents: Data?) -> Bool {
        (try? (contents ?? Data()).write(to: URL(filePath: path))) != nil
    }
}

/// A file that is written over in place.
public final class FileHandle {
    private let number: CInt

    public init(forWritingTo place: URL) throws {
        number = open(place.path, O_WRONLY | O_CLOEXEC)
        guard number >= 0 else { throw FileError(path: place.path, number: errno) }
    }

    public func truncate(atOffset offset: UInt64) throws {
        guard ftruncate(number, Int(offset)) == 0 else { throw FileError(path: "", number: errno) }
        try seek(toOffset: offset)
    }

    public func seek(toOffset offset: UInt64) throws {
        guard lseek(number, Int(offset), SEEK_SET) >= 0 else { throw FileError(path: "", number: errno) }
    }

    public func write(contentsOf bytes: some Sequence<UInt8>) throws {
        let bytes = Array(bytes)
        guard unsafe Glibc.write(number, bytes, bytes.count) == bytes.count else {
            throw FileError(path: "", number: errno)
        }
    }

    public func close() throws {
        guard Glibc.close(number) == 0 else { throw FileError(path: "", number: errno) }
    }
}

public enum Thread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    public static func detachNewThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        // The thread takes it over.
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        unsafe pthread_create(
            &thread, nil,
            { work in
                if let work = unsafe work {
                    unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                }
                return nil
            }, work)
        pthread_detach(thread)
    }
}

extension Data {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    public func base64EncodedString() -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<Swift.min(start + 3, bytes.count)]
            let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for place in 0..<4 {
                text.append(
                    place <= part.count ? Data.letters[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    public init?(base64Encoded text: String) {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for letter in text.utf8 where letter != UInt8(ascii: "=") {
            guard let value = Data.letters.firstIndex(of: letter) else { return nil }
            bits = (bits << 6 | value) & 0xffff
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 0xff))
            }
        }
        self.init(bytes)
    }

    public func range(of other: Data) -> Range<Int>? {
        guard !other.isEmpty, count >= other.count else { return nil }
        return (0...count - other.count).first { bytes[$0...].starts(with: other.bytes) }.map {
            $0..<$0 + other.count
        }
    }
}

public final class NSLock: Sendable {
    private let mutex = Mutex(())

    public init() {}
    public func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
        try mutex.withLock { _ in try body() }
    }
}

public struct CocoaError: Error {
    public enum Code: Sendable { case fileWriteUnknown }

    public init(_ code: Code) {}
}

public final class DispatchSemaphore: Sendable {
    private let count: Mutex<Int>

    public init(value: Int) { count = Mutex(value) }
    public func signal() { count.withLock { $0 += 1 } }

    public func wait() {
        while true {
            let isOurs = count.withLock { count in
                guard count > 0 else { return false }
                count -= 1
                return true
            }
            if isOurs { return }
            usleep(1000)
        }
    }
}
