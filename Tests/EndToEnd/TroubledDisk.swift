import Foundation
import Vectors

/// A disk that hangs or is full for as long as a test wants, for what a program and its successors write into a folder.
struct TroubledDisk {
    private enum Trouble: String {
        case hangs, full
        case none = ""
    }

    /// `KEY=value` each: this process' own, and what the program needs.
    let environment: [String]
    private let trouble: String
    private var met: String { trouble + ".met" }

    /// Whether the program has met with the trouble, and waits.
    var isMet: Bool { access(met, F_OK) == 0 }

    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        #define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

        static char trouble(const char *path) {
            const char *folder = getenv("DISK_FOLDER"), *file = getenv("DISK_TROUBLE");
            static int (*real)(const char *, int, ...);
            if (!real) real = dlsym(RTLD_NEXT, "open");
            char word = 0, met[4096];
            if (!path || !folder || !file || strncmp(path, folder, strlen(folder))) return 0;
            int opened = real(file, O_RDONLY | O_CLOEXEC);
            if (opened < 0) return 0;
            if (read(opened, &word, 1) != 1) word = 0;
            close(opened);
            if (!word) return 0;
            snprintf(met, sizeof met, "%s.met", file);
            if ((opened = real(met, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) >= 0) close(opened);
            return word;
        }

        static int refuse(const char *path) {
            char word;
            while ((word = trouble(path)) == 'h') usleep(2000);
            if (word == 'f') errno = ENOSPC;
            return word == 'f';
        }

        static int refuse_file(int file) {
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length < 0) return 0;
            path[length] = 0;
            return refuse(path);
        }

        #define OPEN(name) int name(const char *path, int flags, ...) { \\
            va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \\
            REAL(name); return flags & O_CREAT && access(path, F_OK) && refuse(path) ? -1 : real(path, flags, mode); }
        #define FILE_(type, name, parameters, ...) type name parameters { \\
            REAL(name); return refuse_file(file) ? -1 : real(__VA_ARGS__); }

        OPEN(open)
        OPEN(open64)
        FILE_(ssize_t, write, (int file, const void *bytes, size_t count), file, bytes, count)
        FILE_(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), file, bytes, count, at)
        FILE_(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), file, bytes, count, at)
        FILE_(int, fsync, (int file), file)
        FILE_(int, fdatasync, (int file), file)
        """

    /// - Parameters:
    ///   - folder: The beginning of the paths that count.
    ///   - directory: For files of the disk's own; not in the folder.
    init(_ folder: String, in directory: String) throws {
        let library = directory + "/troubled.so"
        try Self.library.write(toFile: library + ".c", atomically: false, encoding: .utf8)
        try ProgramRun(["cc", "-shared", "-fPIC", "-o", library, library + ".c", "-ldl"]).succeeded()
        trouble = directory + "/trouble"
        environment =
            ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
            + ["LD_PRELOAD=\(library)", "DISK_FOLDER=\(folder)", "DISK_TROUBLE=\(trouble)"]
    }

    private func meet(with trouble: Trouble) throws {
        unlink(met)
        try trouble.rawValue.write(toFile: self.trouble, atomically: true, encoding: .utf8)
    }

    func hang() throws { try meet(with: .hangs) }
    func fill() throws { try meet(with: .full) }
    func mend() throws { try meet(with: .none) }
}
