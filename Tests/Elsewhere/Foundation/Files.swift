@_exported import Glibc

/// What tests use of Foundation, for an architecture to which nobody has brought it. A test that needs more is left out there.
public struct Data: Equatable, Sendable {
    var bytes: [UInt8]
    let tree: JSONTree?

    init(tree: JSONTree) {
        bytes = []
        self.tree = tree
    }

    public init() { self.init([UInt8]()) }
    public init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        tree = nil
    }
    public init(count: Int) { self.init([UInt8](repeating: 0, count: count)) }
    public init(repeating byte: UInt8, count: Int) { self.init([UInt8](repeating: byte, count: count)) }

    public init(contentsOf place: URL) throws {
        guard let file = unsafe fopen(place.path, "r") else {
            throw FileError(path: place.path, number: errno)
        }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&part, 1, part.count, file)
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        self.init(bytes)
    }

    public func write(to place: URL) throws {
        guard let file = unsafe fopen(place.path, "w") else {
            throw FileError(path: place.path, number: errno)
        }
        defer { unsafe fclose(file) }
        guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw FileError(path: place.path, number: errno)
        }
    }

    public static func == (one: Data, other: Data) -> Bool { one.bytes == other.bytes }
}

extension Data: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { bytes.count }
    public subscript(index: Int) -> UInt8 { bytes[index] }
}

struct FileError: Error {
    let path: String
    let number: Int32
}

public struct URL: Sendable {
    public let path: String

    public init(filePath: String) { path = filePath }

    public func deletingLastPathComponent() -> URL {
        URL(filePath: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }

    public func appending(path part: String) -> URL { URL(filePath: "\(path)/\(part)") }
}

extension String {
    public enum Encoding: Sendable { case utf8 }

    public init(contentsOf place: URL, encoding: Encoding) throws {
        self.init(decoding: try Data(contentsOf: place).bytes, as: UTF8.self)
    }

    public func write(toFile path: String, atomically: Bool, encoding: Encoding) throws {
        try Data(utf8).write(to: URL(filePath: path))
    }
}

public struct UUID: Sendable {
    public let uuidString: String

    public init() {
        let hex = "0123456789ABCDEF"
        uuidString = String((0..<32).map { _ in hex.randomElement() ?? "0" })
    }
}

public struct ProcessInfo: Sendable {
    public static let processInfo = ProcessInfo()

    public var environment: [String: String] {
        var found: [String: String] = [:]
        var next = unsafe environ
        while let text = unsafe next.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            found[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            unsafe next += 1
        }
        return found
    }
}

public struct FileManager: Sendable {
    public static let `default` = FileManager()

    public var temporaryDirectory: URL { URL(filePath: "/tmp") }

    public func createDirectory(atPath path: String, withIntermediateDirectories: Bool) throws {
        guard mkdir(path, 0o777) == 0 || errno == EEXIST && withIntermediateDirectories else {
            throw FileError(path: path, number: errno)
        }
    }

    public func fileExists(atPath path: String) -> Bool { access(path, F_OK) == 0 }

    public func contentsOfDirectory(atPath path: String) throws -> [String] {
        guard let directory = unsafe opendir(path) else { throw FileError(path: path, number: errno) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    public func removeItem(at place: URL) throws { try removeItem(atPath: place.path) }

    public func removeItem(atPath path: String) throws {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw FileError(path: path, number: errno) }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in try contentsOfDirectory(atPath: path) { try removeItem(atPath: "\(path)/\(name)") }
        }
        guard remove(path) == 0 else { throw FileError(path: path, number: errno) }
    }

    public func copyItem(atPath path: String, toPath other: String) throws {
        guard !fileExists(atPath: other) else { throw FileError(path: other, number: EEXIST) }
        try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: other))
    }
}
