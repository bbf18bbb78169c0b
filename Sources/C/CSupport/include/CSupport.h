#pragma once
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* What Swift's Glibc module does not have: GNU functions, variadic ones, and code between fork and exec. */

/* A close-on-exec eventfd; -1 and errno on failure. */
int onionbell_eventfd(bool blocks);

/* A stream socket, or two connected Unix ones; non-blocking, close-on-exec. -1 and errno on failure. */
int onionbell_socket(int family);
int onionbell_socketpair(int ends[2]);

/* accept4 with SOCK_NONBLOCK | SOCK_CLOEXEC; the peer's address is not asked for. */
int onionbell_accept(int listener);

/* A descriptor that becomes readable when the process ends (pidfd_open). */
int onionbell_pidfd_open(pid_t pid);

/* Starts arguments[0] (found by PATH), with SIGKILL sent to it when the calling thread ends unless it outlives that.
 * input, output and errors become its stdin, stdout and stderr. -1: /dev/null for stdin, and the others are inherited.
 * The signal mask is emptied and signals are default. environment NULL: inherited.
 * Returns the process id, or -1 with errno, also when exec itself failed. */
pid_t onionbell_spawn(
    char *const arguments[], char *const environment[], int input, int output, int errors, bool outlives);

/* Becomes another program in this process, with these descriptors as 3, 4, ... and no further ones. Returns -1 with errno
 * while nothing has changed; later failures end the process with status 75. */
int onionbell_succeed(
    const char *path, char *const arguments[], char *const environment[], const int descriptors[], int count);

/* Whether a descriptor (3 to ONIONBELL_MOST_INHERITED + 2) was open when this program began, before any library and any
 * thread of it opened one. Whether it still is the same one is not known. */
#define ONIONBELL_MOST_INHERITED 256
bool onionbell_is_inherited(int descriptor);

/* Another descriptor of the same open file, close-on-exec; -1 and errno on failure. */
int onionbell_copy_descriptor(int descriptor);

/* A file in memory, close-on-exec; -1 and errno on failure. */
int onionbell_memory_file(const char *name);

/* Sends a datagram, with a descriptor unless that is -1. Waits so many milliseconds for a receiver whose queue is full.
 * 0, or -1 and errno. */
int onionbell_send(
    int socket, const struct sockaddr *address, socklen_t length, const void *bytes, size_t count, int descriptor,
    int milliseconds);

/* No core dumps, not traceable by other processes of the same user. 0 or -1 and errno. */
int onionbell_disable_core_dumps(void);

/* Gives back what a long-running process needed only for a time, as for its start: pages of code and constants (the kernel
 * maps again those that are used, out of its cache) and free memory of the heap. */
void onionbell_release_unused_memory(void);

/* Lets all threads allocate from one heap. By default glibc gives a thread one of its own, whose free end it never gives
 * back. To be called before there is a second thread. */
void onionbell_share_heap(void);

/* Gives back the free memory of the heap; takes milliseconds of the calling thread where there is much. */
void onionbell_trim_heap(void);

/* Bytes of the heap that are in use. */
size_t onionbell_used_heap(void);

/* Raises the soft limit of open files to the hard one; returns the limit now in force, or -1 and errno. */
long onionbell_raise_file_limit(void);

void onionbell_name_thread(const char *name);
