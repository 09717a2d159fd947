// SPDX-License-Identifier: Apache-2.0
//
// Finds the target region in which a device's process ends. A region also runs on the threads of its parallel regions,
// and tasks move between threads. So a table says which kernels run. If one kernel runs, it is the region, whatever
// thread has crashed. If several run, the region is the kernel that the crashed thread has called last, if that kernel
// still runs.
#include "device/processor/crash/process_crash.hpp"

#include "device/processor/crash/crash_stack.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace marline::offload::device {

namespace {

constexpr int kSlots = 256;  // if more kernels run at a time, the others are not known

enum : int { kFree, kClaimed, kRunning };

struct Slot {
  std::atomic<int> state;  // written by the kernel's thread, read by handlers
  uint64_t entry;
  uint64_t place;
};

void (*g_report)(const EndInKernel&);
std::atomic<bool> g_claimed{false};  // set by the thread that ends the process
pid_t g_process;  // the process that has called note_ends: a child that a region forks reports nothing
Slot g_slots[kSlots];
thread_local int t_slot = -1;  // the slot of the kernel that the thread has called last; -1: none

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

// `context`: the third argument of a signal's handler, or null.
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
  g_report(end);
  _exit(status);
}

// A signal that a process has sent is about no address.
void on_crash(int signal, siginfo_t* info, void* context) {
  leave_crash_stack();
  bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  end_with(signal, is_fault && info->si_code > 0, reinterpret_cast<uint64_t>(info->si_addr), 128 + signal, context);
}

// exit calls the handlers in the reverse order of their registration, and this one ends the process: so the program's
// handlers do not run here.
void on_exit_call(int status, void*) {
  std::fflush(stdout);
  end_with(ProcessEnd::kExitCalled, false, static_cast<uint64_t>(status), status, nullptr);
}

// quick_exit does not pass the status to its handlers.
void on_quick_exit_call() { end_with(ProcessEnd::kQuickExitCalled, false, 0, EXIT_FAILURE, nullptr); }

}  // namespace

void note_ends(void (*report)(const EndInKernel& end)) {
  g_report = report;
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
    // Pairs with the destructor.
    if (!slot.state.compare_exchange_strong(free, kClaimed, std::memory_order_acquire)) continue;
    slot.entry = entry;
    slot.place = place;
    slot.state.store(kRunning, std::memory_order_release);  // pairs with is_running
    slot_ = i;
  }
  t_slot = slot_;
}

RunningKernel::~RunningKernel() {
  t_slot = outer_;
  if (slot_ >= 0) g_slots[slot_].state.store(kFree, std::memory_order_release);  // pairs with the slot's next claim
}

}  // namespace marline::offload::device
