import Glibc

/// A store in one file of SQLite's.
struct SQLiteEngine: Engine {
    let path: String

    var file: String? { path }
    var isShared: Bool { false }

    func connect(for access: StoreAccess) throws(StoreError) -> any EngineConnection {
        if access == .sharing { try StoreFile.lookForSaved(path) }
        return try SQLiteConnection(path: path, for: access)
    }

    /// Makes the file of a copy, which has another name until it is whole.
    func beginCopy(of tables: [StoreTable]) throws(StoreError) -> any EngineConnection {
        guard access(path, F_OK) != 0 else { throw StoreCopy.taken("there is a file \(path)") }
        let connection = try SQLiteConnection(path: path + ".copy", for: .owning)
        try connection.prepare()
        connection.whole = path
        return connection
    }

    func explained(_ error: StoreError) -> StoreError { error.explained(path: path) }

    var leftOver: String? {
        guard StoreFile.logBytes(beside: path) > 0 else { return nil }
        return StoreAdvice.logLeft(path)
    }
}

extension StorePlace {
    /// Returns the place of SQLite's file at this path.
    package static func file(_ path: String, _ kinds: DoorKinds = DoorKinds()) -> StorePlace {
        StorePlace(SQLiteEngine(path: path), kinds)
    }
}
