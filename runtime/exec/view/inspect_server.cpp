// SPDX-License-Identifier: Apache-2.0
//
// The server for `marline ps`: a local socket with the abstract name "marline/PID", which leaves no file, and a thread
// that waits at it. It answers only the process's own user and root; the kernel says which user asks. One request at a
// time.
#include "exec/view/inspect.hpp"

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "exec/view/inspect_address.hpp"
#include "exec/view/inspect_tasks.hpp"
#include "exec/worker/blocked.hpp"
#include "platform/thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr size_t kThreadStack = 256 * 1024;

// kServes: there is a server, or there cannot be one.
enum State : uint32_t { kNone, kServes, kEnding };
SpinLock g_lock;                  // of all below; the server takes it only for g_connection
Atomic<uint32_t> g_state{kNone};  // also read without the lock
int g_listener = -1;              // the listening socket, of the process that opened it; -1: there is no server
int g_connection = -1;            // the connection that is being served
pthread_t g_server;               // if there is a listener

int open_listener() {
  sockaddr_un address;
  socklen_t bytes = inspect_address(getpid(), address);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), bytes) == 0 && listen(listener, 64) == 0) return listener;
  close(listener);
  return -1;
}

// The users that may read the process's memory may ask: root, and the process's user if the process may be traced. So
// the user of a set-uid program, or of one with file capabilities, may not (prctl(2), PR_SET_DUMPABLE): stacks have the
// program's secrets.
bool may_ask(int connection) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == 0 || (peer.uid == geteuid() && prctl(PR_GET_DUMPABLE) == 1);
}

// One line of "NAME=VALUE" words; unknown words are ignored, so that later versions of the command may ask more.
void parse(const char* line, InspectRequest* request) {
  struct {
    const char* name;
    size_t* value;
  } const known[] = {{"stack=", &request->stack_bytes}, {"stacks=", &request->stacks}};
  for (const auto& one : known) {
    const char* at = std::strstr(line, one.name);
    if (at != nullptr) *one.value = std::strtoul(at + std::strlen(one.name), nullptr, 10);
  }
  if (const char* at = std::strstr(line, "sections=")) request->sections = at + std::strlen("sections=");
}

bool receive_line(int connection, char* line, size_t bytes) {
  size_t have = 0;
  while (have + 1 < bytes) {
    ssize_t got = recv(connection, line + have, bytes - 1 - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    have += static_cast<size_t>(got);
    line[have] = 0;
    if (std::strchr(line, '\n') != nullptr) return true;
  }
  return false;
}

void serve(int connection) {
  constexpr timeval kPatience{10, 0};  // with a client that does not read or write
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  char line[256];
  if (!may_ask(connection) || !receive_line(connection, line, sizeof line)) return;
  InspectRequest request;
  parse(line, &request);
  ReportStream out(connection);
  inspect_describe(out, request);
  out.flush();
}

// While a connection is noted, it is open, and inspect_stop() may end it.
void note_connection(int connection) {
  Guard<SpinLock> guard(g_lock);
  g_connection = connection;
  if (g_state.load(relaxed) == kEnding && connection >= 0) shutdown(connection, SHUT_RDWR);
}

// Serves until the listening socket is shut down, which ends accept4() with EINVAL.
void server_main(void*) {
  for (;;) {
    int connection = accept4(g_listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EMFILE && errno != ENFILE) return;
      if (g_state.load(relaxed) == kEnding) return;  // accept4() wants a descriptor before it looks at the listener
      usleep(100'000);                               // out of descriptors: the caller waits in the queue meanwhile
      continue;
    }
    note_connection(connection);
    serve(connection);
    note_connection(-1);
    close(connection);
  }
}

// The child does not have the server's thread. The child opens a socket of its own when it starts threads.
void after_fork_in_child() {
  g_lock.unlock();  // a thread of the parent, which the child does not have, may hold it
  if (g_listener >= 0) close(g_listener);
  if (g_connection >= 0) close(g_connection);  // else the client would wait for this process's end, too
  g_listener = g_connection = -1;
  inspect_relay_after_fork();
  blocked_after_fork();
  g_state.store(kNone, relaxed);
}

}  // namespace

// Where the server cannot be started (no such sockets, no more threads), the program runs without it, and `marline ps`
// says that the process does not answer.
void inspect_start() {
  if (g_state.load(relaxed) != kNone || !options().inspect) return;
  static Atomic<bool> fork_handled{false};
  if (!fork_handled.exchange(true, relaxed)) pthread_atfork(nullptr, nullptr, after_fork_in_child);
  Guard<SpinLock> guard(g_lock);
  if (g_state.load(relaxed) != kNone) return;
  g_state.store(kServes, relaxed);
  g_listener = open_listener();
  if (g_listener < 0 || thread_start(g_server, "marline/ps", server_main, nullptr, kThreadStack)) return;
  close(g_listener);
  g_listener = -1;
}

// The server is joined, so that another thread than this one with its small stack ends the process.
void inspect_stop() {
  inspect_relay_stop();
  {
    Guard<SpinLock> guard(g_lock);
    if (g_state.load(relaxed) != kServes || g_listener < 0) return;
    g_state.store(kEnding, relaxed);
    shutdown(g_listener, SHUT_RDWR);
    if (g_connection >= 0) shutdown(g_connection, SHUT_RDWR);
  }
  thread_join(g_server);
  Guard<SpinLock> guard(g_lock);
  close(g_listener);
  g_listener = -1;
  g_state.store(kNone, relaxed);
}

}  // namespace marline
