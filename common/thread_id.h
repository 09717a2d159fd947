/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's number of the calling thread. glibc has gettid since 2.30 only; the libraries run on 2.28, too. For C
 * and C++.
 */
#ifndef MARLINE_COMMON_THREAD_ID_H
#define MARLINE_COMMON_THREAD_ID_H

#include <sys/syscall.h>
#include <unistd.h>

static inline pid_t thread_id(void) { return (pid_t)syscall(SYS_gettid); }

#endif
