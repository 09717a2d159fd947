// SPDX-License-Identifier: Apache-2.0
//
// A lock for sections that neither suspend nor wait for the loader's lock, as a thread that waits for this lock may
// hold the loader's. The sections are short, except rare ones that copy an image or read the tables of modules. A lock
// that a fork's child may need is listed in base/forks.hpp. A thread that finds the lock taken spins for a while before
// it sleeps.
#pragma once

#include <pthread.h>

namespace marline::offload {

class Lock {
 public:
  void take() { pthread_mutex_lock(&mutex_); }
  [[nodiscard]] bool try_take() { return pthread_mutex_trylock(&mutex_) == 0; }
  void release() { pthread_mutex_unlock(&mutex_); }

  Lock* next = nullptr;  // in a list of base/forks.cpp

 private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

class Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock) { lock_.take(); }
  ~Guard() { lock_.release(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace marline::offload
