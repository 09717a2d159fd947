// SPDX-License-Identifier: Apache-2.0
//
// The door of `marline ps`: a socket of the local machine with the abstract name "marline/PID", which needs no folder and
// leaves no file behind, and a thread that sleeps at it. Only the process's own user (and root) is answered: the kernel
// says who asks. One request at a time.
#include "exec/inspect.hpp"

#include "base/atomic.hpp"
#include "config/options.hpp"
#include "exec/blocked.hpp"
#include "exec/inspect_tasks.hpp"
#include "platform/thread.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr size_t kThreadStack = 256 * 1024;

Atomic<uint32_t> g_started{0};  // any thread; 1: there is a server, or there cannot be one
int g_door = -1;                // of the process that opened it

int open_door() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "marline/%d", static_cast<int>(getpid()));
  auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door < 0) return -1;
  if (bind(door, reinterpret_cast<sockaddr*>(&address), bytes) == 0 && listen(door, 8) == 0) return door;
  close(door);
  return -1;
}

bool may_ask(int connection) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

// One line of "NAME=VALUE" words; what is not known is passed over, so that later versions of the command may ask more.
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

void server_main(void*) {
  for (;;) {
    int connection = accept4(g_door, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EMFILE && errno != ENFILE) return;
      usleep(100'000);  // out of descriptors: the caller waits in the queue meanwhile
      continue;
    }
    serve(connection);
    close(connection);
  }
}

// The thread did not come along. The child opens a door of its own when it starts threads.
void after_fork_in_child() {
  if (g_door >= 0) close(g_door);
  g_door = -1;
  blocked_after_fork();
  g_started.store(0, relaxed);
}

}  // namespace

// Where it cannot be (no such sockets, no more threads), the program runs as well without, and `marline ps` says that
// the process does not answer.
void inspect_start() {
  if (g_started.load(relaxed) != 0 || g_started.exchange(1, relaxed) != 0 || !options().inspect) return;
  g_door = open_door();
  if (g_door < 0) return;
  static Atomic<bool> fork_handled{false};
  if (!fork_handled.exchange(true, relaxed)) pthread_atfork(nullptr, nullptr, after_fork_in_child);
  if (thread_start_detached("marline/ps", server_main, nullptr, kThreadStack)) return;
  close(g_door);
  g_door = -1;
}

}  // namespace marline
