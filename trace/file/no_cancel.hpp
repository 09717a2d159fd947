// SPDX-License-Identifier: Apache-2.0
//
// While one exists, the thread cannot be cancelled (pthread_cancel). The system calls by which the recorder writes are
// cancellation points: a thread that ended there would leave the recorder's locks taken and its window half copied. A
// cancellation that comes meanwhile takes effect at the program's next cancellation point.
#ifndef MARLINE_TRACE_NO_CANCEL_HPP
#define MARLINE_TRACE_NO_CANCEL_HPP

#include <pthread.h>

namespace marline::trace {

class NoCancel {
 public:
  NoCancel() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_;
};

}  // namespace marline::trace

#endif
