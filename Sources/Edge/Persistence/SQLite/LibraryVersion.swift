import CSQLite

/// The version of the library that the process runs with.
package var storageLibraryVersion: String { "SQLite " + String(cString: sqlite3_libversion()) }
