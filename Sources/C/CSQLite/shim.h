#pragma once
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

/// Switches off SQLite's count of its own memory, which takes a lock at each allocation. Before the first connection.
static inline int onionbell_sqlite3_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// The end of a connection leaves the write-ahead log as it is: neither is it copied into the database nor deleted.
static inline int onionbell_sqlite3_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// What the index of a write-ahead log says of it and of what was moved into the database, and what the log itself says
/// (https://www.sqlite.org/walformat.html, sections 1 and 2.2).
typedef struct {
    /// Two random numbers that a log has from when it was begun anew, as bytes: in the index, and in the log.
    uint64_t salts;
    uint64_t log_salts;
    uint32_t frames;
    /// Frames that are in the database, and those that somebody moves or wanted to move there.
    uint32_t moved;
    uint32_t moving;
    /// Bytes of the log, and how many it has at least.
    int64_t log_size;
    int64_t log_size_at_least;
} onionbell_log;

static inline void onionbell_copy_words(uint32_t *words, const volatile uint32_t *index, int count) {
    for (int word = 0; word < count; word++) { words[word] = __atomic_load_n(index + word, __ATOMIC_ACQUIRE); }
}

/// Of a file in WAL mode that was read from at least once, by the thread that has it. The memory and the files are
/// SQLite's; nothing of them is opened, kept or changed.
///
/// `is_index`: only what the index says is asked for, which takes no call of the system. Returns SQLITE_BUSY while somebody
/// changes what is asked for, SQLITE_ERROR where it can't be asked for.
static inline int onionbell_sqlite3_log(sqlite3 *database, int is_index, onionbell_log *log) {
    enum { header = 12, all = 33, region = 32 * 1024, frame_header = 24, log_header = 32 };
    sqlite3_file *file = 0, *journal = 0;
    volatile void *memory = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) != SQLITE_OK || !file ||
        !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap || !journal || !journal->pMethods ||
        file->pMethods->xShmMap(file, 0, region, 0, &memory) != SQLITE_OK || !memory) {
        return SQLITE_ERROR;
    }
    uint32_t words[all], again[all];
    onionbell_copy_words(words, memory, all);
    // Whoever changes the header writes its second copy first.
    if (memcmp(words, words + header, header * sizeof(uint32_t)) != 0) { return SQLITE_BUSY; }
    uint16_t page;
    memcpy(&page, (const char *)words + 14, sizeof(page));
    log->frames = words[4];
    memcpy(&log->salts, words + 8, sizeof(log->salts));
    log->moved = words[24];
    log->moving = words[32];
    log->log_size_at_least = log->frames == 0 ? 0 : log_header + log->frames * (frame_header + (page == 1 ? 65536LL : page));
    if (is_index) { return SQLITE_OK; }
    log->log_salts = 0;
    // SQLite fills what is missing with zeros.
    if (journal->pMethods->xFileSize(journal, &log->log_size) != SQLITE_OK ||
        (log->log_size >= log_header &&
         journal->pMethods->xRead(journal, &log->log_salts, sizeof(log->log_salts), 16) != SQLITE_OK)) {
        return SQLITE_ERROR;
    }
    onionbell_copy_words(again, memory, all);
    // What readers note of themselves changes all the time.
    return memcmp(words, again, 2 * header * sizeof(uint32_t)) == 0 && words[24] == again[24] && words[32] == again[32]
               ? SQLITE_OK : SQLITE_BUSY;
}

/// Reads from the database file, or from its log, as SQLite has it open: nothing is opened or closed. What is missing at the
/// end is filled with zeros.
static inline int onionbell_sqlite3_read(sqlite3 *database, int is_log, void *bytes, int count, int64_t offset) {
    sqlite3_file *file = 0;
    int which = is_log ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER;
    if (sqlite3_file_control(database, "main", which, &file) != SQLITE_OK || !file || !file->pMethods) { return SQLITE_ERROR; }
    int code = file->pMethods->xRead(file, bytes, count, offset);
    return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

/// The bytes of the database file, or of its log, as SQLite has it open; -1: not known.
static inline int64_t onionbell_sqlite3_size(sqlite3 *database, int is_log) {
    sqlite3_file *file = 0;
    sqlite3_int64 size = 0;
    int which = is_log ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER;
    if (sqlite3_file_control(database, "main", which, &file) != SQLITE_OK || !file || !file->pMethods ||
        file->pMethods->xFileSize(file, &size) != SQLITE_OK) {
        return -1;
    }
    return size;
}
