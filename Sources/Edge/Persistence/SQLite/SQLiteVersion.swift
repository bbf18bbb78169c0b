import CSQLite

/// The name and version of SQLite, as loaded at run time.
package var storageLibraryVersion: String { "SQLite " + String(cString: sqlite3_libversion()) }
