// SPDX-License-Identifier: Apache-2.0
//
// A task that overruns its stack faults in the guard below it. The handler, on an alternate stack, prints which task it
// was and which option gives it a larger stack. Then the fault is handled as usual (core dump, debugger).
#include "base/check.hpp"
#include "../common/thread_id.h"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/fiber/stack.hpp"
#include "sched/library_call.hpp"
#include "sched/team.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace marline {

namespace {

constexpr size_t kAlternateStack = 32 * 1024;
struct sigaction g_previous;

// Whether the fault is just below the current stack: in a fiber's guard, or in the guard of one of the runtime's
// threads.
bool overflowed(const void* address, Stack* stack) {
  if (stack_of_guard(address, stack)) return true;
  Worker* worker = acting_worker();
  if (worker == nullptr || worker->fiber == nullptr) return false;
  *stack = worker->fiber->stack;
  auto at = static_cast<const char*>(address);
  return at < stack->low + 4096 && at >= stack->low - 64 * 1024;
}

const char* remedy_for(const Stack& stack) {
  return stack_is_first(stack) ? "raise it by `ulimit -s` before the program starts"
                               : "set OMP_STACKSIZE (or MARLINE_STACKSIZE, for tasks that suspend) to more";
}

void on_fault(int signal, siginfo_t* info, void*) {
  const bool sent = info->si_code <= 0;  // by a thread or process, and not by an instruction
  Stack stack;
  if (!sent && overflowed(info->si_addr, &stack)) {
    Worker* worker = acting_worker();
    Task* task = worker != nullptr ? worker->task : nullptr;
    const char* kind = task != nullptr && task->has(task_flag::kImplicit) ? "an implicit task" : "task";
    const char* label = task != nullptr && task->name() != nullptr ? task->name() : "";
    char line[320];
    int length = snprintf(line, sizeof line, "marline: fatal: stack overflow in %s%s%s%s: its stack has %zu KiB; %s\n",
                          kind, label[0] != '\0' ? " '" : "", label, label[0] != '\0' ? "'" : "", stack.size() / 1024,
                          remedy_for(stack));
    // Nothing is left to do if this fails.
    if (length > 0 && write(2, line, static_cast<size_t>(length)) < 0) _exit(134);
  }
  sigaction(signal, &g_previous, nullptr);
  // The instruction faults again, under the previous disposition; a signal that was sent must be sent again.
  if (sent && syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_id(), signal, info) != 0) raise(signal);
}

void install_handler() {
  struct sigaction current;
  if (sigaction(SIGSEGV, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) return;  // the program's own: leave it
  g_previous = current;
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaction(SIGSEGV, &action, nullptr) != 0) warn("cannot install the stack overflow handler");
}

}  // namespace

void* stack_watch_overflow() {
  static Atomic<int> installed{0};
  if (installed.exchange(1, acq_rel) == 0) install_handler();
  stack_t alternate;
  if (sigaltstack(nullptr, &alternate) == 0 && (alternate.ss_flags & SS_DISABLE) == 0)
    return nullptr;  // the program's own
  void* memory = mmap(nullptr, kAlternateStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;  // an overflow will be a plain fault
  alternate.ss_sp = memory;
  alternate.ss_size = kAlternateStack;
  alternate.ss_flags = 0;
  sigaltstack(&alternate, nullptr);
  return memory;
}

void stack_unwatch_overflow(void* alternate) {
  if (alternate == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  if (sigaltstack(&none, nullptr) == 0) munmap(alternate, kAlternateStack);
}

}  // namespace marline
