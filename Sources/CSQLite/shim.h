#pragma once
#include <sqlite3.h>

/// Switches off SQLite's count of its own memory, which takes a lock at each allocation. Before the first connection.
static inline int onionbell_sqlite3_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// The end of a connection leaves the write-ahead log as it is: neither is it copied into the database nor deleted.
static inline int onionbell_sqlite3_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
