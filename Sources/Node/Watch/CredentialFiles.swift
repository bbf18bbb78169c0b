import Crypto
import Glibc
import Reactor
import Tor

/// The files of one app's credentials, as they were when they were looked at last.
package struct CredentialFiles: Equatable, Sendable {
    /// The part of a file's status that tells that it was written or replaced; `nil`: it is not there.
    struct Stamp: Equatable, Sendable {
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

    /// The contents of the files when they were looked at: their user needs to read nothing more.
    package struct Contents: Sendable {
        fileprivate var files: [String: Result<[UInt8], SystemError>] = [:]

        package init(reading paths: [String] = []) {
            for path in paths where !path.isEmpty { files[path] = Contents.result(of: path) }
        }

        fileprivate static func result(of path: String) -> Result<[UInt8], SystemError> {
            Result { () throws(SystemError) in try CredentialFiles.read(path) }
        }

        /// Puts other contents in the place of a file's.
        package mutating func put(_ content: [UInt8], at path: String) { files[path] = .success(content) }

        @Sendable
        package func read(_ path: String) throws(SystemError) -> [UInt8] {
            guard let file = files[path] else { throw SystemError("open \(path)", code: ENOENT) }
            return try file.get()
        }
    }

    /// Keys and certificates are small; a file of all authorities that browsers know has a quarter of it.
    package static let limit = 1 << 20

    /// Reads a file without the mark that programs of Windows write before UTF-8.
    @Sendable
    package static func read(_ path: String) throws(SystemError) -> [UInt8] {
        Array(try PrivateFile.read(path, limit: limit).withoutMark)
    }

    let paths: [String]
    /// The stamps of the files that were read; `nil` for one that could not be read, which is looked at again.
    private(set) var stamps: [Stamp?]
    /// The digests of the files' contents; `nil` for a file that can't be read.
    private var digests: [[UInt8]?]

    init(_ paths: [String], reading read: (String) throws(SystemError) -> [UInt8] = CredentialFiles.read) {
        self.paths = paths.filter { !$0.isEmpty }
        stamps = []
        digests = []
        look(reading: read)
    }

    /// How the files stand now.
    var presentStamps: [Stamp?] { paths.map(Stamp.init) }

    /// Whether there is something else in them than in these: a file that was only written again is no news.
    func differ(from before: CredentialFiles) -> Bool { digests != before.digests }

    /// Looks at them anew.
    @discardableResult
    mutating func look(
        reading read: (String) throws(SystemError) -> [UInt8] = CredentialFiles.read
    ) -> Contents {
        // Before they are read: a change in between is noticed.
        let present = presentStamps
        var contents = Contents()
        for path in paths {
            contents.files[path] = Result { () throws(SystemError) in try read(path) }
        }
        digests = paths.map { path in (try? contents.read(path)).map(Hash.sha256) }
        stamps = zip(present, digests).map { $1 == nil ? nil : $0 }
        return contents
    }
}
