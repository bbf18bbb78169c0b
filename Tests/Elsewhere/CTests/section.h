#pragma once

#include <stdio.h>

/* The records of all tests in this program, which the linker has put into one row. */
extern const char first_test __asm__("__start_swift5_tests") __attribute__((weak));
extern const char last_test __asm__("__stop_swift5_tests") __attribute__((weak));

static inline const void *onionbell_first_test(void) { return &first_test; }
static inline const void *onionbell_last_test(void) { return &last_test; }

static inline void onionbell_print_by_lines(void) { setlinebuf(stdout); }
