/* SPDX-License-Identifier: Apache-2.0
 *
 * What every program test includes: CHECK macros, and the proof that the program runs on the runtime that the test
 * means. A program returns 0 when all its checks hold. The first check that fails, on whichever thread, prints one line
 * with its place and values and ends the process at once (no exit handlers: other threads may be inside a region).
 */
#ifndef PROGRAMS_CHECK_H
#define PROGRAMS_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 3, 4), noreturn)) static inline void check_failed(const char* file, int line,
                                                                                const char* format, ...) {
  static int failed;
  if (__atomic_exchange_n(&failed, 1, __ATOMIC_RELAXED)) {
    for (;;) pause(); /* another thread is already reporting and about to end the process */
  }
  fflush(stdout);
  fprintf(stderr, "%s:%d: check failed: ", file, line);
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  _exit(1);
}

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) check_failed(__FILE__, __LINE__, "%s", #condition); \
  } while (0)

#define CHECK_EQ(actual, expected)                                                                                \
  do {                                                                                                            \
    long long check_a_ = (long long)(actual), check_e_ = (long long)(expected);                                   \
    if (check_a_ != check_e_)                                                                                     \
      check_failed(__FILE__, __LINE__, "%s is %lld, expected %s = %lld", #actual, check_a_, #expected, check_e_); \
  } while (0)

#define CHECK_RANGE(actual, low, high) /* low <= actual <= high */                                                  \
  do {                                                                                                              \
    long long check_a_ = (long long)(actual), check_l_ = (long long)(low), check_h_ = (long long)(high);            \
    if (check_a_ < check_l_ || check_a_ > check_h_)                                                                 \
      check_failed(__FILE__, __LINE__, "%s is %lld, expected %lld .. %lld", #actual, check_a_, check_l_, check_h_); \
  } while (0)

#define CHECK_NEAR(actual, expected, tolerance)                                                                     \
  do {                                                                                                              \
    double check_a_ = (double)(actual), check_e_ = (double)(expected);                                              \
    if (!(fabs(check_a_ - check_e_) <= (tolerance)))                                                                \
      check_failed(__FILE__, __LINE__, "%s is %.17g, expected %s = %.17g", #actual, check_a_, #expected, check_e_); \
  } while (0)

/* MARLINE_TEST_RUNTIME=marline: libmarline must be in the process and answer the omp_* names; anything else: it must
 * not. Without it a wrong search path would let every test pass on the wrong runtime. */
__attribute__((constructor)) static void check_runtime(void) {
  const char* wanted = getenv("MARLINE_TEST_RUNTIME");
  if (!wanted) return;
  Dl_info info;
  void* entry = dlsym(RTLD_DEFAULT, "omp_get_num_threads");
  const char* file = entry && dladdr(entry, &info) ? info.dli_fname : "(none)";
  int in_marline = strstr(file, "marline") != NULL && dlsym(RTLD_DEFAULT, "marline_version") != NULL;
  if (in_marline != (strcmp(wanted, "marline") == 0))
    check_failed(__FILE__, __LINE__, "the test wants the runtime '%s' but omp_get_num_threads is in %s", wanted, file);
}

#endif
