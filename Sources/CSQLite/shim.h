#pragma once
#include <sqlite3.h>

/// Switches off SQLite's count of its own memory, which takes a lock at each allocation. Before the first connection.
static inline int onionbell_sqlite3_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
