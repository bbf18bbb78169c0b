import Foundation

/// A disk that refuses one of the calls by which a program changes what lies in a folder: each can be tried in its turn.
package struct FailingDisk: Sendable {
    /// What becomes of the call whose turn it is.
    package enum Way: String, CaseIterable, Sendable {
        /// It fails, and all others work.
        case once
        /// It fails, and so does each later one that needs room. Names can be changed and removed.
        case full
        /// The process is killed before it.
        case killed
    }

    /// For the program, beside its own.
    package let environment: [String: String]
    /// As many bytes as calls that are to come, with the one that fails.
    private let countdown: String

    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>

        static int is_full;

        static int refuse(const char *path, int needs_room) {
            const char *folder = getenv("DISK_FOLDER"), *way = getenv("DISK_WAY");
            struct stat left;
            if (!path || !folder || !way || strncmp(path, folder, strlen(folder))) return 0;
            if (!strcmp(way, "full") && !needs_room) return 0;
            if (is_full) { errno = ENOSPC; return 1; }
            if (stat(getenv("DISK_COUNTDOWN"), &left) || left.st_size == 0) return 0;
            if (truncate(getenv("DISK_COUNTDOWN"), left.st_size - 1)) abort();
            if (left.st_size > 1) return 0;
            if (!strcmp(way, "killed")) raise(SIGKILL);
            is_full = !strcmp(way, "full");
            errno = ENOSPC;
            return 1;
        }

        static int refuse_file(int file, int needs_room) {
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length < 0) return 0;
            path[length] = 0;
            return refuse(path, needs_room);
        }

        #define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
        #define OPEN(name) int name(const char *path, int flags, ...) { \\
            va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \\
            REAL(name); return flags & O_CREAT && refuse(path, 1) ? -1 : real(path, flags, mode); }
        #define PATH(type, name, room, parameters, ...) type name parameters { \\
            REAL(name); return refuse(path, room) ? -1 : real(__VA_ARGS__); }
        #define FILE_(type, name, room, parameters, ...) type name parameters { \\
            REAL(name); return refuse_file(file, room) ? -1 : real(__VA_ARGS__); }

        OPEN(open)
        OPEN(open64)
        PATH(int, rename, 0, (const char *from, const char *path), from, path)
        PATH(int, link, 1, (const char *from, const char *path), from, path)
        PATH(int, symlink, 1, (const char *to, const char *path), to, path)
        PATH(int, unlink, 0, (const char *path), path)
        PATH(int, mkdir, 1, (const char *path, mode_t mode), path, mode)
        PATH(int, rmdir, 0, (const char *path), path)
        PATH(int, chmod, 0, (const char *path, mode_t mode), path, mode)
        FILE_(ssize_t, write, 1, (int file, const void *bytes, size_t count), file, bytes, count)
        FILE_(ssize_t, pwrite, 1, (int file, const void *bytes, size_t count, off_t at), file, bytes, count, at)
        FILE_(ssize_t, pwrite64, 1, (int file, const void *bytes, size_t count, off64_t at), file, bytes, count, at)
        FILE_(int, fsync, 1, (int file), file)
        FILE_(int, fdatasync, 1, (int file), file)
        FILE_(int, ftruncate, 1, (int file, off_t size), file, size)
        FILE_(int, ftruncate64, 1, (int file, off64_t size), file, size)
        """

    /// - Parameters:
    ///   - directory: For its own files; not in the folder.
    ///   - folder: The beginning of the paths that count.
    package init(_ way: Way, of folder: String, in directory: String) throws {
        let library = directory + "/disk.so"
        if !FileManager.default.fileExists(atPath: library) {
            try Self.library.write(toFile: library + ".c", atomically: false, encoding: .utf8)
            try ProgramRun(["cc", "-shared", "-fPIC", "-o", library, library + ".c", "-ldl"]).succeeded()
        }
        countdown = directory + "/countdown"
        environment = [
            "LD_PRELOAD": library, "DISK_FOLDER": folder, "DISK_WAY": way.rawValue,
            "DISK_COUNTDOWN": countdown,
        ]
    }

    /// From now on the call of this number is the one; the first has number 1.
    package func refuse(call number: Int) throws {
        try Data(count: number).write(to: URL(filePath: countdown))
    }

    /// Whether its turn has come. If not, the program has made fewer calls.
    package var hasRefused: Bool {
        (try? Data(contentsOf: URL(filePath: countdown)))?.isEmpty ?? false
    }
}
