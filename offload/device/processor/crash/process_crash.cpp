// SPDX-License-Identifier: Apache-2.0
//
// See the header. A region's threads are those of its parallel regions, too, and tasks move between threads. So a table
// says which kernels run: if one does, that is the region, whatever thread has crashed. If several run, it is the one
// that the thread has called last, if there is one.
#include "device/processor/crash/process_crash.hpp"

#include "device/processor/crash/crash_stack.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace marline::offload::device {

namespace {

constexpr int kSlots = 256;  // with more kernels at a time, the others are not known

enum : int { kFree, kClaimed, kRunning };

struct Slot {
  std::atomic<int> state;  // of the kernel's thread; read by handlers
  uint64_t entry;
  uint64_t place;
};

void (*g_tell)(const EndInKernel&);
std::atomic<bool> g_claimed{false};  // by the thread that ends the process
pid_t g_process;                     // a region may fork: its child notes nothing
Slot g_slots[kSlots];
thread_local int t_slot = -1;  // of the kernel that the thread has called last

bool is_running(int slot) {
  return slot >= 0 && g_slots[slot].state.load(std::memory_order_acquire) == kRunning;  // pairs with RunningKernel
}

int running_slot(int& running) {
  int found = -1;
  running = 0;
  for (int i = 0; i < kSlots; ++i) {
    if (!is_running(i)) continue;
    ++running;
    found = i;
  }
  if (running <= 1) return found;
  return is_running(t_slot) ? t_slot : -1;
}

// `context`: a signal's, or null.
[[noreturn]] void end_with(int cause, bool at_address, uint64_t value, int status, const void* context) {
  if (getpid() != g_process) _exit(status);
  while (g_claimed.exchange(true)) pause();  // another thread ends the process
  static char stack[ProcessEnd::kStackText];
  if (context != nullptr) read_crash_stack(context, stack, sizeof stack);
  EndInKernel end = {{cause, 0, at_address, value, nullptr, nullptr, stack}, 0, 0};
  int slot = running_slot(end.running);
  if (slot >= 0) {
    end.entry = g_slots[slot].entry;
    end.kernel_place = g_slots[slot].place;
  }
  g_tell(end);
  _exit(status);
}

// Signals that somebody has sent are about no address.
void on_crash(int signal, siginfo_t* info, void* context) {
  leave_crash_stack();
  bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  end_with(signal, is_fault && info->si_code > 0, reinterpret_cast<uint64_t>(info->si_addr), 128 + signal, context);
}

// The last handler that is registered is the first one called: the program's do not run here.
void on_exit_call(int status, void*) {
  std::fflush(stdout);
  end_with(ProcessEnd::kExitCalled, false, static_cast<uint64_t>(status), status, nullptr);
}

// It is not told the status.
void on_quick_exit_call() { end_with(ProcessEnd::kQuickExitCalled, false, 0, EXIT_FAILURE, nullptr); }

}  // namespace

void note_ends(void (*tell)(const EndInKernel& end)) {
  g_tell = tell;
  g_process = getpid();
  prepare_crash_stack();
  struct sigaction action = {}, old;
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
  for (int signal : {SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ, SIGALRM}) {
    bool is_default = sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL;
    if (is_default) sigaction(signal, &action, nullptr);
  }
  on_exit(on_exit_call, nullptr);
  at_quick_exit(on_quick_exit_call);
}

RunningKernel::RunningKernel(uint64_t entry, uint64_t place) : slot_(-1), outer_(t_slot) {
  for (int i = 0; i < kSlots && slot_ < 0; ++i) {
    Slot& slot = g_slots[i];
    int free = kFree;
    if (slot.state.load(std::memory_order_relaxed) != kFree) continue;
    if (!slot.state.compare_exchange_strong(free, kClaimed, std::memory_order_acquire)) continue;  // pairs with the end
    slot.entry = entry;
    slot.place = place;
    slot.state.store(kRunning, std::memory_order_release);  // pairs with is_running
    slot_ = i;
  }
  t_slot = slot_;
}

RunningKernel::~RunningKernel() {
  t_slot = outer_;
  if (slot_ >= 0) g_slots[slot_].state.store(kFree, std::memory_order_release);  // pairs with the next one's claim
}

}  // namespace marline::offload::device
