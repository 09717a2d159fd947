// SPDX-License-Identifier: Apache-2.0
//
// See the header. The command is started through a shell that ends at once, so that it is not a child of the program,
// which may wait for its own children; and without the libraries that are preloaded here.
#include "signal/on_signal.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

#include "../common/environment.h"
#include "../common/options.hpp"
#include "file/file_names.hpp"
#include "base/process.hpp"
#include "base/recorder.hpp"
#include "base/ring.hpp"

namespace marline::trace {
namespace {

pid_t owner;
int wake_up[2];           // a pipe: the handler writes, the thread reads
char target[kPathBytes];  // the trace's folder
char command[PATH_MAX];   // bin/marline of this installation
const char* const kOurs[] = {"LD_PRELOAD=", "LD_LIBRARY_PATH=", "MARLINE_"};

void do_nothing(int) {}  // not SIG_IGN, which a program that is started from here would inherit

void on_signal(int) {
  if (getpid() != owner) return;  // a forked child has the pipe, but no thread
  const int error = errno;
  (void)!write(wake_up[1], "", 1);  // a full pipe: enough copies are asked for
  errno = error;
}

// This library is PREFIX/lib/marline/libmarline-trace.so, or in the folder of an MPI below.
bool find_command() {
  Dl_info self;
  char real[PATH_MAX];
  if (dladdr(reinterpret_cast<void*>(&on_signal), &self) == 0 || realpath(self.dli_fname, real) == nullptr)
    return false;
  for (char* slash; (slash = strrchr(real, '/')) != nullptr;) {
    *slash = '\0';
    const int length = snprintf(command, sizeof command, "%s/bin/marline", real);
    if (length > 0 && static_cast<size_t>(length) < sizeof command && access(command, X_OK) == 0) return true;
  }
  return false;
}

bool is_ours(const char* variable) {
  for (const char* name : kOurs) {
    if (strncmp(variable, name, strlen(name)) == 0) return true;
  }
  return false;
}

// The environment without what makes a program run on Marline or record. The caller frees the list.
char** plain_environment() {
  size_t count = 0;
  while (environ[count] != nullptr) ++count;
  auto* list = static_cast<char**>(calloc(count + 1, sizeof(char*)));
  size_t kept = 0;
  for (size_t i = 0; list != nullptr && i < count; ++i) {
    if (!is_ours(environ[i])) list[kept++] = environ[i];
  }
  return list;
}

// Starts a program that ends at once, and can be ended by signals, which this thread blocks. 0, or an error number.
int start(char* const* words, char* const* environment) {
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t child;
  int status = 0;
  int error = posix_spawn(&child, words[0], nullptr, &attributes, words, environment);
  posix_spawnattr_destroy(&attributes);
  // The program may have waited for it meanwhile (ECHILD).
  if (error == 0 && waitpid(child, &status, 0) == child && status != 0) error = ECANCELED;
  return error;
}

// Each rank copies its own ring into the folder of the same number; one of them says where.
void copy(int number) {
  char script[] = "\"$0\" ps --trace \"$1\" --only $3 \"$2\" >&2 &";
  char folder[kPathBytes + 24];
  char pid[16];
  char quiet[] = "--quiet";
  char nothing[] = "";
  snprintf(folder, sizeof folder, "%s.signal%d", target, number);
  snprintf(pid, sizeof pid, "%d", getpid());
  char shell_name[] = "/bin/sh";
  char with_script[] = "-c";
  char* words[] = {shell_name, with_script, script, command, folder, pid, speaks_for_job() ? nothing : quiet, nullptr};
  char** environment = plain_environment();
  const int error = environment == nullptr ? ENOMEM : start(words, environment);
  free(environment);
  if (error != 0) {
    fprintf(stderr, "marline-trace: MARLINE_TRACE_SIGNAL: cannot start %s: %s; run `marline ps --trace %s %s`\n",
            command, strerror(error), folder, pid);
  }
}

void* wait_for_signals(void*) {
  char one;
  for (int number = 0;;) {
    const ssize_t got = read(wake_up[0], &one, 1);
    if (got == 1) {
      copy(++number);
    } else if (got == 0 || errno != EINTR) {
      return nullptr;
    }
  }
}

// The thread takes no signals of the program's, but those of a crash.
bool start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int crash : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT}) sigdelset(&all, crash);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, wait_for_signals, nullptr);
  if (error == 0) {
    pthread_setname_np(thread, "marline/trace");
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return error == 0;
}

}  // namespace

void copy_ring_on_signal() {
  static int begun;
  const int signal = process.options.signal;
  if (signal == 0) return;
  struct sigaction before;
  struct sigaction action = {};
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(signal, nullptr, &before);
  if (!has_ring()) {
    action.sa_handler = do_nothing;
    if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
    return;
  }
  if (__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED) != 0) return;
  const char* wanted = trusted_variable("MARLINE_TRACE_SIGNAL");
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN && before.sa_handler != do_nothing) {
    refuse_option("MARLINE_TRACE_SIGNAL", wanted, "a signal that the program does not handle itself");
  }
  trace_path(target, "");
  *strrchr(target, '/') = '\0';  // the folder
  owner = getpid();
  if (!find_command() || pipe2(wake_up, O_CLOEXEC | O_NONBLOCK) != 0 || fcntl(wake_up[0], F_SETFL, 0) != 0 ||
      !start_thread()) {
    fprintf(stderr, "marline-trace: MARLINE_TRACE_SIGNAL: %s; use `marline ps --trace DIR %d` instead\n",
            command[0] == '\0' ? "no bin/marline beside this library" : strerror(errno), getpid());
    return;
  }
  action.sa_handler = on_signal;
  sigaction(signal, &action, nullptr);
}

}  // namespace marline::trace
