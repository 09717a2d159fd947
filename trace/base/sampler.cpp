// SPDX-License-Identifier: Apache-2.0
//
// The handler may interrupt a thread anywhere, also between two stores of a record. It needs no lock against that: it
// writes nothing if it has interrupted the recorder's own code, or a flush(). Elsewhere the recorder's code is at a
// call of another function, before which all its records are complete, and after which it looks anew where the next one
// goes (the fence in emit_at). The time of a sample that cannot be taken is added to the next one.
//
// Signal: the highest real-time signal that the program leaves alone, as SIGPROF is for the program's own profilers.
// Stack: the thread's alternate stack, as the stack of a task may be nearly full. System calls of the program go on
// after the handler (SA_RESTART). Those that signal(7) excepts, such as nanosleep and poll, end with EINTR, if the
// timer expires in the moment before they sleep: a sleeping thread has no CPU time.
#include "base/sampler.hpp"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/thread_id.h"
#include "base/process.hpp"
#include "unwind/walker.hpp"

namespace marline::trace {
namespace {

constexpr u64 kNanoseconds = 1000000000;
constexpr size_t kStackBytes = 64 * 1024;

// What a sampled thread keeps. Memory of zeros is a valid one.
struct Sampler {
  Walker walker;
  SampleWriter writer;
  u64 owed;     // ns of CPU time that no sample stands for yet
  int timer;    // the kernel's number
  void* stack;  // the alternate stack that this made, or null
};

// Written by prepare(), before any timer exists.
int sample_signal;
bool has_stacks;
u64 recorder_begin, recorder_end;  // the recorder's own code

pthread_once_t prepared = PTHREAD_ONCE_INIT;
constinit thread_local Sampler* mine __attribute__((tls_model("initial-exec"))) = nullptr;

void say(const char* what, int error, const char* consequence) {
  fprintf(stderr, "marline-trace: MARLINE_TRACE_SAMPLE: %s: %s; %s\n", what, strerror(error), consequence);
}

u64 period() { return kNanoseconds / process.options.sample_hz; }

void take(Sampler& sampler, const siginfo_t& info, const ucontext_t& context) {
  const SampleWriter::State state = sampler.writer.state();
  if (state == SampleWriter::State::kOff) {
    sampler.owed = 0;
    return;
  }
  // The timer may have expired several times before the signal was delivered: while the thread blocked it, or if the
  // kernel's clock ticks less often.
  sampler.owed += period() * (1 + static_cast<u64>(info.si_overrun > 0 ? info.si_overrun : 0));
  Registers registers;
  read_registers(context, registers);
  if (state == SampleWriter::State::kBusy || (registers.pc >= recorder_begin && registers.pc < recorder_end)) return;
  Walker& walker = sampler.walker;
  const int count = has_stacks ? walker.walk(registers) : walker.only(registers);
  sampler.writer.write(walker.frames(), count, sampler.owed, walker.met_unknown_code());
  sampler.owed = 0;
}

void on_signal(int, siginfo_t* info, void* context) {
  const int error = errno;
  if (mine != nullptr && info->si_code == SI_TIMER) take(*mine, *info, *static_cast<const ucontext_t*>(context));
  errno = error;
}

int find_recorder(dl_phdr_info* object, size_t, void*) {
  const u64 here = reinterpret_cast<u64>(&on_signal);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const u64 begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && here >= begin && here < begin + part.p_memsz) {
      recorder_begin = begin;
      recorder_end = begin + part.p_memsz;
      return 1;
    }
  }
  return 0;
}

// Leaves sample_signal at 0 if the program has taken all.
void choose_signal() {
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN && sample_signal == 0; --signal) {
    struct sigaction current;
    if (sigaction(signal, nullptr, &current) != 0 || (current.sa_flags & SA_SIGINFO) != 0 ||
        current.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    if (sigaction(signal, &action, nullptr) == 0) sample_signal = signal;
  }
}

void prepare() {
  dl_iterate_phdr(find_recorder, nullptr);
  has_stacks = SafeMemory::works();
  if (!has_stacks) say("process_vm_readv", errno, "samples have no call stacks, only the function that ran");
  choose_signal();
  if (sample_signal == 0) say("real-time signals", EBUSY, "the program has taken all; nothing is sampled");
}

// A thread that has an alternate stack keeps it.
void make_stack(Sampler& sampler) {
  stack_t current;
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;  // then handlers run on the stack that is in use
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  sampler.stack = memory;
}

void drop_stack(Sampler& sampler) {
  stack_t current;
  if (sampler.stack == nullptr || sigaltstack(nullptr, &current) != 0 || current.ss_sp != sampler.stack) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  if (sigaltstack(&none, nullptr) == 0) munmap(sampler.stack, kStackBytes);
}

// By system calls: glibc before 2.34 has these functions in a library of their own.
bool start_timer(Sampler& sampler) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = sample_signal;
  event._sigev_un._tid = thread_id();
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &sampler.timer) != 0) return false;
  const u64 each = period();
  itimerspec times{};
  times.it_interval.tv_sec = static_cast<time_t>(each / kNanoseconds);
  times.it_interval.tv_nsec = static_cast<long>(each % kNanoseconds);
  times.it_value = times.it_interval;
  if (syscall(SYS_timer_settime, sampler.timer, 0, &times, nullptr) == 0) return true;
  const int error = errno;
  syscall(SYS_timer_delete, sampler.timer);
  errno = error;
  return false;
}

void unblock_signal() {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, sample_signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace

void begin_sampling(const SampleWriter& to) {
  if (process.options.sample_hz == 0) return;
  pthread_once(&prepared, prepare);
  if (sample_signal == 0) return;
  refresh_loaded_code();
  void* memory = mmap(nullptr, sizeof(Sampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    say("no memory for a thread", errno, "this thread is not sampled");
    return;
  }
  auto* sampler = static_cast<Sampler*>(memory);
  sampler->writer = to;
  make_stack(*sampler);
  unblock_signal();  // Marline's own threads block all signals
  mine = sampler;
  if (start_timer(*sampler)) return;
  say("timer_create", errno, "this thread is not sampled: raise the limit of pending signals (ulimit -i)");
  mine = nullptr;
  drop_stack(*sampler);
  munmap(memory, sizeof(Sampler));
}

void end_sampling() {
  Sampler* sampler = mine;
  if (sampler == nullptr) return;
  syscall(SYS_timer_delete, sampler->timer);
  mine = nullptr;  // of a signal that is still pending
  drop_stack(*sampler);
  munmap(sampler, sizeof(Sampler));
}

}  // namespace marline::trace
