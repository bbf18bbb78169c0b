import Foundation
import Glibc

/// Stands between a node and its PostgreSQL, and cuts the line when it is told to, at the commit or the request it is told.
///
/// `@unchecked Sendable`: `next`, `requests` and `fromServer` are guarded by `lock`, all else is set once.
final class LineCutter: @unchecked Sendable {
    enum Cut {
        /// The server never gets it.
        case before
        /// The server has done it, and nobody is told.
        case after
    }

    private let directory: String
    private let server: String
    private let listener: Int32
    private let lock = NSLock()
    private var next: Cut?
    /// Requests up to the one that ``next`` is for; `nil`: it is for a commit.
    private var requests: Int?
    private var fromServer = 0

    /// - Parameter server: The directory of its socket.
    init(to server: String) throws {
        self.server = server + "/.s.PGSQL.5432"
        directory = "/tmp/onionbell-cut-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let place = directory + "/.s.PGSQL.5432"
        guard LineCutter.withAddress(place, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { [self] in serve(client) }
            }
        }
    }

    func url(_ database: String) -> String { "postgresql://onionbell@/\(database)?host=\(directory)" }

    /// The next commit that comes by.
    func cut(_ cut: Cut) { lock.withLock { (next, requests) = (cut, nil) } }

    /// That request from now on, the next one being the first; `nil`: none.
    func cut(_ cut: Cut?, atRequest number: Int) { lock.withLock { (next, requests) = (cut, number) } }

    /// What a node has sent at once is one request.
    private func cut(at request: Data) -> Cut? {
        lock.withLock {
            guard next != nil else { return nil }
            if let left = requests {
                requests = left - 1
                return left == 1 ? next.take() : nil
            }
            return request.range(of: Data("COMMIT".utf8)) != nil ? next.take() : nil
        }
    }

    /// Bytes that the server has sent so far.
    var received: Int { lock.withLock { fromServer } }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private func serve(_ client: Int32) {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            Glibc.close(client)
            Glibc.close(upstream)
        }
        guard LineCutter.withAddress(server, { connect(upstream, $0, $1) }) == 0 else { return }
        var sides = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
        ]
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        while poll(&sides, 2, -1) > 0 {
            for (index, side) in sides.enumerated() where side.revents != 0 {
                let count = read(side.fd, &bytes, bytes.count)
                guard count > 0 else { return }
                let cut = index == 0 ? cut(at: Data(bytes[..<count])) : nil
                if cut == .before { return }
                if index == 1 { lock.withLock { fromServer += count } }
                guard write(sides[1 - index].fd, bytes, count) == count else { return }
                // The answer to all of it comes at once.
                if cut == .after {
                    _ = read(upstream, &bytes, bytes.count)
                    return
                }
            }
        }
    }
}
