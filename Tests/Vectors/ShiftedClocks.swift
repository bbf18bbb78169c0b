import Foundation

/// Clocks of a process that are later or earlier than this machine's.
package struct ShiftedClocks: Sendable {
    package enum Shift: String, CaseIterable, Sendable {
        /// The machine has slept: the wall clock and the one that counts sleep are later, and the one by which timers run is
        /// not.
        case slept
        /// The process was held up: all its clocks are later, also that by which timers run.
        case held
        /// The wall clock alone.
        case ahead, behind
    }

    /// Of the process, `KEY=value` each.
    package var environment: [String] {
        ProcessInfo.processInfo.environment.merging(variables) { $1 }.map { "\($0)=\($1)" }
    }
    /// What is added to the environment of the process.
    package let variables: [String: String]
    private let directory: String

    /// Each shift is as many seconds as a file has bytes.
    private static let library = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static long shift(const char *name) {
            struct stat file;
            return stat(getenv(name), &file) ? 0 : file.st_size;
        }

        int clock_gettime(clockid_t clock, struct timespec *now) {
            int code = syscall(SYS_clock_gettime, clock, now);
            if (code == 0 && (clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME)) now->tv_sec += shift("CLOCK_slept");
            if (code == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift("CLOCK_ahead") - shift("CLOCK_behind");
            if (code == 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID)
                now->tv_sec += shift("CLOCK_held");
            return code;
        }

        // PostgreSQL asks by this one.
        int gettimeofday(struct timeval *now, void *zone) {
            struct timespec exact;
            (void)zone;
            int code = clock_gettime(CLOCK_REALTIME, &exact);
            now->tv_sec = exact.tv_sec;
            now->tv_usec = exact.tv_nsec / 1000;
            return code;
        }
        """

    /// - Parameter directory: For its files.
    package init(in directory: String) throws {
        self.directory = directory
        let library = directory + "/clocks.so"
        try Self.library.write(toFile: library + ".c", atomically: false, encoding: .utf8)
        try ProgramRun(["cc", "-shared", "-fPIC", "-o", library, library + ".c"]).succeeded()
        // Another user's process loads it too, whatever this one lets others read.
        try ProgramRun(["chmod", "755", library]).succeeded()
        var variables = ["LD_PRELOAD": library]
        for shift in Shift.allCases { variables["CLOCK_\(shift)"] = "\(directory)/\(shift)" }
        self.variables = variables
    }

    /// From now on, also while the process runs. It never sees a shift between the one before and this one.
    package func set(_ shift: Shift, seconds: Int) throws {
        try Data(count: seconds).write(to: URL(filePath: "\(directory)/\(shift)"), options: .atomic)
    }

    /// They are this machine's again.
    package func rightAll() throws {
        for shift in Shift.allCases { try set(shift, seconds: 0) }
    }
}
