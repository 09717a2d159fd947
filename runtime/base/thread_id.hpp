// SPDX-License-Identifier: Apache-2.0
//
// The kernel's number of the calling thread. glibc has gettid since 2.30 only; the libraries run on 2.28, too.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace marline {

inline pid_t thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

}  // namespace marline
