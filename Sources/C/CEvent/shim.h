#pragma once
/* fd_set must be complete before libevent's config defines _GNU_SOURCE, or Glibc and this module disagree on it. */
#include <sys/types.h>
#include <sys/select.h>
#include <event2/event.h>
