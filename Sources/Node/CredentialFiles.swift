import Crypto
import Glibc
import Reactor
import Tor

/// The files of one app's credentials, as they were when they were looked at last.
package struct CredentialFiles: Equatable {
    /// What of a file tells that it was written or replaced; `nil`: it is not there.
    struct Stamp: Equatable {
        private let device: UInt
        private let inode: UInt
        private let size: Int
        private let modified: [Int]

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
            size = Int(status.st_size)
            modified = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }

    /// Keys and certificates are small.
    package static let limit = 256 << 10

    @Sendable
    package static func read(_ path: String) throws(SystemError) -> [UInt8] {
        try PrivateFile.read(path, limit: limit)
    }

    let paths: [String]
    private(set) var stamps: [Stamp?]
    /// Of what is in them; `nil` for one that can't be read.
    private var digests: [[UInt8]?]

    init(_ paths: [String]) {
        self.paths = paths.filter { !$0.isEmpty }
        stamps = []
        digests = []
        look()
    }

    /// How the files stand now.
    var presentStamps: [Stamp?] { paths.map(Stamp.init) }

    /// Looks at them anew.
    ///
    /// - Returns: Whether there is something else in them: a file that was only written again is no news.
    @discardableResult
    mutating func look() -> Bool {
        let before = digests
        stamps = presentStamps
        digests = paths.map { path in
            (try? CredentialFiles.read(path)).map(Hash.sha256)
        }
        return digests != before
    }
}
