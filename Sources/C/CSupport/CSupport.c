#define _GNU_SOURCE
#include "CSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int onionbell_eventfd(bool blocks) { return eventfd(0, (blocks ? 0 : EFD_NONBLOCK) | EFD_CLOEXEC); }

int onionbell_socket(int family) { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

int onionbell_socketpair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
}

int onionbell_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

int onionbell_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

/* Runs between fork and exec: async-signal-safe calls only. */
static void become(
    char *const arguments[], char *const environment[], int input, int output, int errors, bool outlives, pid_t parent,
    int report) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (input < 0) input = open("/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0) goto failed;
    if (output >= 0 && dup2(output, STDOUT_FILENO) < 0) goto failed;
    if (errors >= 0 && dup2(errors, STDERR_FILENO) < 0) goto failed;
    if (!outlives && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) goto failed;
    /* Ours are all close-on-exec; a library's might not be. A kernel before 5.11 can't, and that is no fault. */
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    if (getppid() != parent) _exit(127); /* the parent ended before the death signal was set */
    if (environment) execvpe(arguments[0], arguments, environment);
    else execvp(arguments[0], arguments);
failed:;
    int error = errno;
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(127);
}

pid_t onionbell_spawn(
    char *const arguments[], char *const environment[], int input, int output, int errors, bool outlives) {
    int report[2]; /* closed by exec; carries errno when exec fails */
    if (pipe2(report, O_CLOEXEC) < 0) return -1;
    pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of ours may run in the child */
    pid_t child = fork();
    if (child == 0) become(arguments, environment, input, output, errors, outlives, parent, report[1]);
    int forkError = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    int error = 0;
    if (child < 0) {
        error = forkError;
    } else {
        ssize_t count;
        do count = read(report[0], &error, sizeof error);
        while (count < 0 && errno == EINTR);
        if (count == sizeof error) waitpid(child, NULL, 0);
        else error = 0;
    }
    close(report[0]);
    if (error) {
        errno = error;
        return -1;
    }
    return child;
}

int onionbell_succeed(
    const char *path, char *const arguments[], char *const environment[], const int descriptors[], int count) {
    if (access(path, X_OK) < 0) return -1;
    /* First out of the way of those that are put into their places. */
    int kept[count + 1];
    for (int index = 0; index < count; index++) {
        kept[index] = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 3 + count);
        if (kept[index] >= 0) continue;
        int error = errno;
        while (index-- > 0) close(kept[index]);
        errno = error;
        return -1;
    }
    /* Other threads run until the exec, and libraries have descriptors of their own at these numbers: the table of this
     * thread is its own from here on. */
    close_range(3 + count, ~0u, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC);
    for (int index = 0; index < count; index++) dup2(kept[index], 3 + index);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    execve(path, arguments, environment);
    _exit(75);
}

static bool inherited[ONIONBELL_MOST_INHERITED];

/* Constructors run before main, and before any thread. */
__attribute__((constructor)) static void note_inherited(void) {
    for (int index = 0; index < ONIONBELL_MOST_INHERITED; index++) {
        int flags = fcntl(3 + index, F_GETFD);
        inherited[index] = flags >= 0 && !(flags & FD_CLOEXEC);
    }
}

bool onionbell_is_inherited(int descriptor) {
    return descriptor >= 3 && descriptor - 3 < ONIONBELL_MOST_INHERITED && inherited[descriptor - 3];
}

int onionbell_copy_descriptor(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

int onionbell_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int onionbell_send(
    int socket, const struct sockaddr *address, socklen_t length, const void *bytes, size_t count, int descriptor,
    int milliseconds) {
    struct iovec part = {(void *)bytes, count};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_name = (void *)address, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
    if (milliseconds > 0) setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return sendmsg(socket, &message, MSG_NOSIGNAL | (milliseconds > 0 ? 0 : MSG_DONTWAIT)) < 0 ? -1 : 0;
}

int onionbell_disable_core_dumps(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) < 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0);
}

long onionbell_raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    return (long)limit.rlim_cur;
}

void onionbell_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

static int release_pages(struct dl_phdr_info *object, size_t size, void *context) {
    long page = sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        /* Never written to, so what is dropped is what the file holds. */
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr) & ~(uintptr_t)(page - 1);
        uintptr_t end = object->dlpi_addr + part->p_vaddr + part->p_memsz;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void onionbell_release_unused_memory(void) {
    dl_iterate_phdr(release_pages, NULL);
    onionbell_trim_heap();
}

void onionbell_share_heap(void) { mallopt(M_ARENA_MAX, 1); }

void onionbell_trim_heap(void) { malloc_trim(0); }

size_t onionbell_used_heap(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

#if defined(__aarch64__) && !__GLIBC_PREREQ(2, 38)
/* Swift's library for arm64 is Debian sid's, which was built on glibc 2.38: on Debian 12 these four are missing. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t strlcpy(char *to, const char *from, size_t room) {
    size_t length = strlen(from);
    if (room == 0) return length;
    size_t taken = length < room ? length : room - 1;
    memcpy(to, from, taken);
    to[taken] = 0;
    return length;
}

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }

long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}
#endif
