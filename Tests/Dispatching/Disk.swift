import Foundation
import Vectors

/// A directory on a disk that forgets, with its power, whatever was not synced: in any order, in pieces of 512 bytes,
/// and some of these by half.
struct Disk {
    private struct File {
        var durable: [UInt8] = []
        /// Writes and truncations since the last sync.
        var unsynced: [DiskTrace.Operation] = []
    }

    private var files: [String: File] = [:]
    /// Names that the directory surely has.
    private var named: Set<String> = []
    /// Deleted, but the directory may still have them.
    private var undeleted: [String: File] = [:]

    private static let sector = 512

    mutating func apply(_ operation: DiskTrace.Operation) {
        switch operation {
        case .create(let name): files[name] = File()
        case .write(let name, _, _), .truncate(let name, _):
            files[name, default: File()].unsynced.append(operation)
        case .sync(let name):
            guard var file = files[name] else { return }
            for operation in file.unsynced { Disk.carryOut(operation, on: &file.durable) }
            file.unsynced = []
            files[name] = file
            // With the first sync of a new log or journal SQLite syncs the directory; with a database's it does not.
            if !named.contains(name), name.hasSuffix("-wal") || name.hasSuffix("-journal") { syncDirectory() }
        // Nobody writes it again: Linux calls the pages clean after the error (fsync(2), Errors).
        case .failedSync(let name): files[name]?.unsynced = []
        case .delete(let name, let isDurable):
            undeleted[name] = files.removeValue(forKey: name)
            if isDurable { syncDirectory() }
        }
    }

    private mutating func syncDirectory() {
        named = Set(files.keys)
        undeleted = [:]
    }

    /// What of a file is surely found after a power cut now.
    func durable(_ name: String) -> [UInt8] { files[name]?.durable ?? [] }

    /// What is found after a power cut now: contents by name.
    func remains(using random: inout SeededRandom) -> [String: [UInt8]] {
        // Now all of it is lost, now little.
        let share = Int.random(in: 0...4, using: &random) * 25
        var found: [String: [UInt8]] = [:]
        for (name, file) in undeleted.sorted(by: { $0.key < $1.key }) where Bool.random(using: &random) {
            found[name] = Disk.contents(of: file, keeping: share, using: &random)
        }
        for (name, file) in files.sorted(by: { $0.key < $1.key })
        where named.contains(name) || Bool.random(using: &random) {
            found[name] = Disk.contents(of: file, keeping: share, using: &random)
        }
        return found
    }

    private static func contents(
        of file: File, keeping share: Int, using random: inout SeededRandom
    ) -> [UInt8] {
        var contents = file.durable
        for operation in file.unsynced {
            guard case .write(let name, let offset, let bytes) = operation else {
                if Int.random(in: 0..<100, using: &random) < share { carryOut(operation, on: &contents) }
                continue
            }
            for start in stride(from: 0, to: bytes.count, by: sector)
            where Int.random(in: 0..<100, using: &random) < share {
                let whole = min(sector, bytes.count - start)
                let count = Int.random(in: 0..<8, using: &random) == 0 ? whole / 2 : whole
                carryOut(
                    .write(name: name, offset: offset + start, bytes: Array(bytes[start..<start + count])),
                    on: &contents)
            }
        }
        return contents
    }

    private static func carryOut(_ operation: DiskTrace.Operation, on contents: inout [UInt8]) {
        switch operation {
        case .write(_, let offset, let bytes):
            extend(&contents, to: offset + bytes.count)
            contents.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        case .truncate(_, let size):
            extend(&contents, to: size)
            contents.removeLast(contents.count - size)
        case .create, .sync, .failedSync, .delete: break
        }
    }

    private static func extend(_ contents: inout [UInt8], to size: Int) {
        if contents.count < size {
            contents.append(contentsOf: repeatElement(0, count: size - contents.count))
        }
    }
}
