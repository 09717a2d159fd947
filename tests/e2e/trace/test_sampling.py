# SPDX-License-Identifier: Apache-2.0
"""`MARLINE_TRACE_SAMPLE` and `marline trace --sample`, on real programs: time is found in the functions that take it,
also on the stacks of tasks; a program with signals, forks, threads and libraries of its own is not disturbed; and
without the option there is no timer."""
from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import handmade  # noqa: F401  first: it finds marline
from conftest import SECONDS
from test_trace_control import BUILD, build, environment, execute

from marline.trace.analysis import Analysis
from marline.trace.views.export import load

HZ = "1000"
# Work by CPU time, so that the machine's load changes nothing; the times are no multiples of the kernel's clock tick.
# The kernel looks at CPU timers when its clock ticks, and beside other programs few ticks find a given thread. So work
# goes on until the kernel has found a timer of the program's own, with the recorder's clock and period, expired twice.
# A period lies between, so by then it has found the recorder's expired, too. `noted` is the CPU time in ms that this
# timer found at each `place`.
WORK = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

static volatile double sum = 1;

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}
__attribute__((always_inline)) static inline void multiply(void) {
  double x = sum;
  for (int i = 0; i < 400000; i++) x = x * 1.0000001 + 1e-9;
  sum = x;
}
int ticks(void);
#define WORK(seconds) \
  for (double end = cpu() + (seconds), before = ticks(); cpu() < end || ticks() < before + 2;) multiply()
"""
TIMER = WORK + r"""
static __thread volatile int tick_count, place;
static __thread pid_t timer_of;
static volatile int noted[3];

static void on_tick(int number, siginfo_t *info, void *context) {
  tick_count++;
  noted[place] += 1 + info->si_overrun;
}
int ticks(void) {
  pid_t thread = syscall(SYS_gettid);
  if (timer_of != thread) {
    timer_of = thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN;
    event._sigev_un._tid = thread;
    timer_t timer;
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &every, NULL)) abort();
  }
  return tick_count;
}
"""
SHARES = TIMER + r"""
__attribute__((noinline)) static void three(void) { place = 1; WORK(0.031); place = 0; }
__attribute__((noinline)) static void one(void) { place = 2; WORK(0.0103); place = 0; }
__attribute__((noinline)) static void serial(void) { WORK(0.0503); sum += 1; }
__attribute__((noinline)) static void deep(int levels) {
  if (levels > 0) deep(levels - 1);
  else for (int i = 0; i < 10; i++) { three(); one(); }
  sum += 1;
}
__attribute__((noinline)) static void long_task(void) { deep(20); sum += 1; }

int main(void) {
  #pragma omp parallel num_threads(2)
  #pragma omp single
  {
    #pragma omp task
    long_task();
    #pragma omp taskwait
  }
  serial();
  printf("%d %d", noted[1], noted[2]);
  return 0;
}
"""


def samples_of(folder: Path) -> dict[str, Any]:
    return Analysis(load(folder / "trace")).document("samples")


@pytest.mark.parametrize("runtime", ["libomp", "marline"])
def test_time_is_where_it_is_spent(tmp_path: Path, runtime: str) -> None:
    """Two functions of a long task take the time that the program's own timer finds. They are 20 calls deep, on the
    stack of the task, and what is inlined into them has its name. Nothing else is recorded meanwhile, so the handler
    fills more than a window."""
    result = execute(build(tmp_path, SHARES), runtime, MARLINE_TRACE_SAMPLE=HZ)
    assert result.stderr == ""
    noted = [int(word) for word in result.stdout.split()]
    assert min(noted) >= 10
    found = samples_of(tmp_path)
    total = {row["name"]: row["total_ns"] for row in found["functions"]}
    # The two timers expire at different parts of a millisecond, and the kernel may look at them between the two.
    assert abs(total["three"] / 1e6 - noted[0]) < 10 + 0.05 * noted[0]
    assert abs(total["one"] / 1e6 - noted[1]) < 10 + 0.05 * noted[1]
    assert total["deep"] == total["long_task"] == total["three"] + total["one"]
    own = {row["name"]: row["own_ns"] for row in found["functions"]}
    assert own["multiply"] > 0.8 * (total["three"] + total["one"] + total["serial"])
    owners = {row["what"]: row for row in found["owners"]}
    assert owners["task"]["time_ns"] == total["long_task"] and "multiply" in str(owners["task"]["functions"])
    assert owners["serial"]["time_ns"] >= total["serial"] > 0


TIMERS = r"""
#include <omp.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  #pragma omp parallel num_threads(2)
  {
    #pragma omp barrier
    #pragma omp master
    {
      char line[256];
      int timers = 0;
      FILE *in = fopen("/proc/self/timers", "r");
      while (in && fgets(line, sizeof line, in)) timers += strncmp(line, "ID:", 3) == 0;
      in = fopen("/proc/self/status", "r");
      unsigned long long caught = 0;
      while (in && fgets(line, sizeof line, in)) sscanf(line, "SigCgt: %llx", &caught);
      printf("%d %llx", timers, caught >> 33);
    }
    #pragma omp barrier
  }
}
"""


def test_no_option_no_timer(tmp_path: Path) -> None:
    """A timer and a handler for each of two threads; without the option neither."""
    program = build(tmp_path, TIMERS)
    timers, caught = execute(program, MARLINE_TRACE_SAMPLE="on").stdout.split()
    assert timers == "2" and int(caught, 16) != 0
    (tmp_path / "trace").rename(tmp_path / "sampled")
    assert execute(program).stdout == "0 0"
    assert samples_of(tmp_path)["samples"] == 0


BUSY = TIMER + r"""
#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>

static volatile int own_signals;
static void on_signal(int number) { (void)number; own_signals++; }

static void *thread(void *argument) {
  #pragma omp parallel num_threads(1)
  WORK(0.002);
  return argument;
}

int main(int count, char **words) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, NULL);
  struct itimerval every = {{0, 4000}, {0, 4000}};
  setitimer(ITIMER_PROF, &every, NULL);
  int failed = 0;
  /* Tasks that are suspended and go on, thousands of times. */
  #pragma omp parallel num_threads(2)
  #pragma omp single
  for (int i = 0; i < 400; i++) {
    #pragma omp task
    for (int j = 0; j < 10; j++) {
      #pragma omp taskyield
      for (volatile int k = 0; k < 2000; k++) {}
    }
  }
  /* Libraries that come and go. */
  for (int i = 0; i < 3; i++) {
    void *library = dlopen(words[1], RTLD_NOW);
    void (*work)(void) = library ? (void (*)(void))dlsym(library, "work_in_plugin") : NULL;
    if (!work) { failed = 1; break; }
    #pragma omp parallel num_threads(1)
    #pragma omp task
    { work(); }
    #pragma omp parallel num_threads(1)
    #pragma omp task
    { work(); }
    if (i < 2) dlclose(library);
  }
  /* Threads that end. */
  for (int i = 0; i < 10; i++) {
    pthread_t one;
    pthread_create(&one, NULL, thread, NULL);
    pthread_join(one, NULL);
  }
  /* Processes: a child that works and one that executes another program. */
  for (int i = 0; i < 2; i++) {
    pid_t child = fork();
    if (child == 0) {
      if (i == 1) execlp("true", "true", (char *)NULL);
      WORK(0.01);
      _exit(7);
    }
    int status = 0;
    failed |= waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != (i ? 0 : 7);
  }
  /* System calls that are interrupted go on. */
  int ends[2];
  char byte = 1;
  if (pipe(ends) != 0) return 2;
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      WORK(0.02);
      failed |= write(ends[1], &byte, 1) != 1;
    } else {
      failed |= read(ends[0], &byte, 1) != 1;
    }
  }
  printf("%d %d", failed, own_signals > 0);
  return 0;
}
"""
PLUGIN = WORK + "void work_in_plugin(void) { WORK(0.0143); }\n"


@pytest.mark.parametrize("runtime", ["libomp", "marline"])
def test_a_busy_program_is_not_disturbed(tmp_path: Path, runtime: str) -> None:
    """Suspended tasks, its own SIGPROF, dlopen, fork, exec and threads that end, all under a thousand samples a
    second. The plugin's function has its name, though it was loaded while its thread was sampled."""
    (tmp_path / "plugin.c").write_text(PLUGIN)
    plugin = tmp_path / "plugin.so"
    subprocess.run(["gcc", "-O1", "-g", "-shared", "-fPIC", str(tmp_path / "plugin.c"), "-o", str(plugin)], check=True,
                   timeout=SECONDS)
    program = build(tmp_path, BUSY, "-rdynamic", "-ldl", "-lpthread")
    result = subprocess.run([program, plugin], env=environment(tmp_path, runtime, MARLINE_TRACE_SAMPLE=HZ),
                            capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 1", "")
    found = samples_of(tmp_path)
    assert found["samples"] > 5
    assert next(row for row in found["functions"] if row["name"] == "work_in_plugin")["total_ns"] > 0


UNLOADED = r"""
#include <dlfcn.h>
#include <omp.h>
int main(int count, char **words) {
  omp_get_max_threads();
  void *library = dlopen(words[1], RTLD_LAZY);
  omp_control_tool(omp_control_tool_flush, 0, NULL);
  return dlclose(library);
}
"""


def test_code_that_was_unloaded(tmp_path: Path) -> None:
    """It stays in the description, where it was when that was written: stacks may have been in it."""
    (tmp_path / "plugin.c").write_text(PLUGIN)
    subprocess.run(["gcc", "-shared", "-fPIC", "plugin.c", "-o", "plugin.so"], cwd=tmp_path, check=True,
                   timeout=SECONDS)  # fmt: skip
    program = build(tmp_path, UNLOADED, "-ldl")
    subprocess.run([program, tmp_path / "plugin.so"], env=environment(tmp_path, "libomp"), check=True, timeout=SECONDS)
    (process,) = load(tmp_path / "trace").ranks.values()
    assert [one["path"] for one in process["maps"]].count(str(tmp_path / "plugin.so")) == 1


SHORT = TIMER + r"""
__attribute__((noinline)) static void inner(void) { WORK(0.0303); sum += 1; }
int main(void) {
  omp_get_max_threads();
  #pragma omp parallel num_threads(1)
  inner();
}
"""
# Executes a program under a filter that refuses process_vm_readv, as some containers do.
FILTERED = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 3;
  execv(words[1], words + 1);
  return 4;
}
"""


def test_without_the_system_call_for_stacks(tmp_path: Path) -> None:
    """The innermost function is known nevertheless, and one line says what is missing."""
    program = build(tmp_path, SHORT)
    (tmp_path / "filtered.c").write_text(FILTERED)
    subprocess.run(["gcc", "filtered.c", "-o", "filtered"], cwd=tmp_path, check=True, timeout=SECONDS)
    result = subprocess.run([tmp_path / "filtered", program], capture_output=True, text=True, check=True,
                            env=environment(tmp_path, "libomp", MARLINE_TRACE_SAMPLE=HZ), timeout=SECONDS)
    assert "process_vm_readv: Operation not permitted; samples have no call stacks" in result.stderr
    assert result.stderr.count("\n") == 1
    found = samples_of(tmp_path)
    total = {row["name"]: row["total_ns"] for row in found["functions"]}
    assert found["samples"] > 0 and "main" not in total
    # Inlined functions share an address: multiply() is in inner().
    assert total["inner"] >= total["multiply"] > 0


def test_command(tmp_path: Path) -> None:
    """`--sample-hz` reaches the recorder, and a rate that cannot be is refused."""
    program = build(tmp_path, TIMERS)
    command = [BUILD / "bin" / "marline", "trace", "-o", tmp_path / "trace", "-t", "2"]
    result = subprocess.run([*command, "--sample", program], capture_output=True, text=True, check=False,
                            timeout=SECONDS)  # fmt: skip
    assert result.returncode == 0 and result.stdout.startswith("2 "), result.stderr
    result = subprocess.run([*command, "--sample-hz", "2000", program], capture_output=True, text=True, check=False,
                            timeout=SECONDS)  # fmt: skip
    assert result.returncode != 0 and "'2000' is not a whole number from 1 to 1000" in result.stderr
