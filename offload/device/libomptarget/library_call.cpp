// SPDX-License-Identifier: Apache-2.0
//
// Writes the line about an abort. The handler runs in the thread that called abort. That thread is in libomptarget and
// holds none of our locks, so the handler may look things up and format text. It raises the signal again, which ends
// the process when the handler returns, whatever process sent the first signal.
#include "device/libomptarget/library_call.hpp"

#include "device/contract/place.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"
#include "image/images.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>

namespace marline::offload::device {

using namespace image;

namespace {

// Of the calling thread; null: the thread is not in libomptarget.
[[gnu::tls_model("initial-exec")]] thread_local const LibraryCall* t_call = nullptr;

}  // namespace

void describe_construct(const Doing& doing, char* to, size_t bytes) {
  if (doing.region != nullptr) {
    const Entry* entry = find_entry(doing.region);
    return describe_place(entry != nullptr ? entry->name : nullptr, doing.place, to, bytes);
  }
  describe_source({nullptr, doing.place, doing.code}, doing.what, to, bytes);
}

LibraryCall::LibraryCall(const Doing& doing, bool asks_for_end) : doing_(doing), asks_for_end_(asks_for_end) {
  t_call = this;
}

LibraryCall::~LibraryCall() { t_call = nullptr; }

const Doing* LibraryCall::here() { return t_call != nullptr ? &t_call->doing_ : nullptr; }

void notify_abort(int, siginfo_t* info, void*) {
  const LibraryCall* call = t_call;
  bool is_ours = info->si_code == SI_TKILL && info->si_pid == getpid();
  (void)raise(SIGABRT);  // pending until the handler returns; by then the default action is set
  if (call == nullptr || !is_ours) return;
  t_call = nullptr;
  const Doing& doing = call->doing_;
  char construct[512], advice[160] = "its own line says why, LIBOMPTARGET_INFO=-1 shows its steps", line[1024];
  describe_construct(doing, construct, sizeof construct);
  size_t free_bytes;
  if (cuda_free_memory(free_bytes) && doing.bytes > free_bytes) {
    std::snprintf(advice, sizeof advice,
                  "it maps %zu bytes, and %zu are free there: map less at a time, or free memory", doing.bytes,
                  free_bytes);
  }
  int length =
      std::snprintf(line, sizeof line, "marline: fatal: libomptarget has ended the program %s %s on device %d; %s\n",
                    call->asks_for_end_ ? "at the end of" : "in", construct, doing.device->number, advice);
  if (length > static_cast<int>(sizeof line) - 1) length = sizeof line - 1;
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(length));
}

void notify_aborts() {
  struct sigaction action = {}, old;
  if (sigaction(SIGABRT, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) return;
  action.sa_sigaction = notify_abort;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  (void)sigaction(SIGABRT, &action, nullptr);
}

}  // namespace marline::offload::device
