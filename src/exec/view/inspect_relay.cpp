// SPDX-License-Identifier: Apache-2.0
//
// Lets `marline ps` reach this process, and the user's others on this machine, from other nodes. A thread listens at a TCP
// port. A client that sends the secret is connected with the local socket of the process that it names; only the user's
// own processes can read the secret, from local sockets. One client at a time. The thread allocates nothing, like the
// server.
#include "exec/view/inspect.hpp"

#include "base/atomic.hpp"
#include "config/options.hpp"
#include "exec/view/inspect_address.hpp"
#include "platform/thread.hpp"

#include <netinet/in.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr size_t kThreadStack = 64 * 1024;
constexpr size_t kSecretBytes = 64;  // at most

Atomic<bool> g_asked{false};   // the first caller opens the port
Atomic<int> g_listener{-1};    // by the opener; read by the thread and by inspect_relay_stop
Atomic<bool> g_stopped{false}; // by inspect_relay_stop, read by the thread
char g_secret[kSecretBytes + 1];  // written before the thread starts

// To the server of the process that the request names ("process=PID"), or of this one. A server on this machine sees that
// this user asks, so it answers if it is this user's.
int connect_to_server(const char* request) {
  constexpr char kWord[] = "process=";
  const char* at = std::strstr(request, kWord);
  int process = at != nullptr ? std::atoi(at + sizeof kWord - 1) : getpid();
  sockaddr_un address;
  socklen_t bytes = inspect_address(process, address);
  int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door < 0) return -1;
  if (connect(door, reinterpret_cast<sockaddr*>(&address), bytes) == 0) return door;
  close(door);
  return -1;
}

bool send_all(int to, const char* text, size_t length) {
  while (length > 0) {
    ssize_t sent = send(to, text, length, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text += sent;
    length -= static_cast<size_t>(sent);
  }
  return true;
}

// The secret comes first, and is compared in constant time.
bool knows_secret(int connection) {
  char text[kSecretBytes];
  size_t length = std::strlen(g_secret);
  if (recv(connection, text, length, MSG_WAITALL) != static_cast<ssize_t>(length)) return false;
  unsigned different = 0;
  for (size_t i = 0; i < length; ++i) different |= static_cast<unsigned>(text[i] ^ g_secret[i]);
  return different == 0;
}

void serve(int connection) {
  constexpr timeval kPatience{10, 0};  // with a client that does not read or write
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  char text[4096 + 1];
  if (!knows_secret(connection)) return;
  ssize_t request = recv(connection, text, sizeof text - 1, 0);  // one line, sent in one piece
  text[request > 0 ? request : 0] = '\0';
  int door = request > 0 ? connect_to_server(text) : -1;
  if (door < 0) return;
  ssize_t got = send_all(door, text, static_cast<size_t>(request)) ? 1 : 0;
  while (got > 0 && (got = recv(door, text, sizeof text, 0)) > 0) {
    if (!send_all(connection, text, static_cast<size_t>(got))) break;
  }
  close(door);
}

void relay_main(void*) {
  int listener = g_listener.load(relaxed);
  for (;;) {
    int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (g_stopped.load(acquire)) return;  // pairs with inspect_relay_stop
      usleep(100'000);  // out of descriptors, or an aborted connection
      continue;
    }
    serve(connection);
    close(connection);
  }
}

// At any address and a free port; -1: that cannot be.
int open_listener() {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener >= 0 && bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return listener;
  if (listener >= 0) close(listener);  // no IPv6
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener >= 0 && bind(listener, reinterpret_cast<sockaddr*>(&plain), sizeof plain) == 0) return listener;
  if (listener >= 0) close(listener);
  return -1;
}

int port_of(int listener) {
  sockaddr_in6 address{};
  socklen_t bytes = sizeof address;
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  return ntohs(address.sin6_port);  // where sockaddr_in has its port, too
}

}  // namespace

int inspect_relay(const char* secret) {
  size_t length = std::strlen(secret);
  if (!options().inspect || length == 0 || length > kSecretBytes || g_asked.exchange(true, relaxed)) return 0;
  std::memcpy(g_secret, secret, length + 1);
  int listener = open_listener();
  if (listener < 0) return 0;
  int port = listen(listener, 8) == 0 ? port_of(listener) : 0;
  g_listener.store(listener, relaxed);
  if (port != 0 && thread_start_detached("marline/relay", relay_main, nullptr, kThreadStack)) return port;
  g_listener.store(-1, relaxed);
  close(listener);
  return 0;
}

void inspect_relay_stop() {
  int listener = g_listener.load(relaxed);
  if (listener < 0) return;
  g_stopped.store(true, release);  // pairs with relay_main
  shutdown(listener, SHUT_RDWR);   // ends accept4
}

void inspect_relay_after_fork() {
  int listener = g_listener.load(relaxed);
  if (listener >= 0) close(listener);
  g_listener.store(-1, relaxed);
}

}  // namespace marline
