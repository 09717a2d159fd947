// SPDX-License-Identifier: Apache-2.0
//
// Lets `marline ps` on other nodes reach this process, and the user's other processes on this machine. A thread listens
// at a TCP port. A client that sends the secret is connected with the local socket of the process that it names; only
// the user's own processes can read the secret, from local sockets. All clients are served side by side by this one
// thread, which waits for none of them, nor for a server: a process that is stopped does not answer, and must not keep
// others from being asked. The number of clients that have not shown the secret is limited, and the oldest of them is
// dropped when one more comes. The thread allocates nothing, like the server.
#include "exec/view/inspect.hpp"

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "config/options.hpp"
#include "exec/view/inspect_address.hpp"
#include "platform/thread.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr size_t kThreadStack = 64 * 1024;
constexpr size_t kSecretBytes = 64;             // at most
constexpr int kMostStrangers = 32;              // clients that have not shown the secret
constexpr int kMostClients = 64;                // all
constexpr uint64_t kPatience = 10'000'000'000;  // nanoseconds, with a client that neither sends nor receives

Atomic<bool> g_asked{false};      // the first caller opens the port
Atomic<int> g_listener{-1};       // by the opener; read by the thread and by inspect_relay_stop
Atomic<bool> g_stopped{false};    // by inspect_relay_stop, read by the thread
char g_secret[kSecretBytes + 1];  // written before the thread starts

// The relay reads the secret and one line. Then it passes on what the process's local socket answers, a piece
// at a time.
struct Client {
  int connection;  // -1: none
  int server;      // -1: the client has not shown the secret, or not sent its whole line
  bool knows_secret;
  bool server_has_ended;
  uint64_t since;  // when the client last made progress; without the secret, when it came
  size_t have;     // bytes of text
  size_t sent;     // of these to the connection
  char text[4096];
};
Client g_clients[kMostClients];  // prepared by the opener, then the thread's; a forked child closes its descriptors

// Any process can take the name of a socket, so this checks that the socket is that process's, and this user's.
bool is_server_of(int server, int process) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(server, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.pid == process && peer.uid == geteuid();
}

// Connects to the server of the process that the request names ("process=PID"), or of this process. A server on this
// machine sees that this user asks, so it answers if it is this user's. Does not wait: a server with a full queue gives
// an error.
int connect_to_server(const char* request) {
  constexpr char kWord[] = "process=";
  const char* at = std::strstr(request, kWord);
  int process = at != nullptr ? std::atoi(at + sizeof kWord - 1) : getpid();
  sockaddr_un address;
  socklen_t bytes = inspect_address(process, address);
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (server < 0) return -1;
  if (connect(server, reinterpret_cast<sockaddr*>(&address), bytes) == 0 && is_server_of(server, process))
    return server;
  close(server);
  return -1;
}

void end(Client& client) {
  const int connection = client.connection, server = client.server;
  client.connection = client.server = -1;
  fence_signal();  // in between, a fork may copy them to a child, which must not close the program's files
  if (connection >= 0) close(connection);
  if (server >= 0) close(server);
}

// In constant time.
bool is_secret(const char* text, size_t length) {
  unsigned different = 0;
  for (size_t i = 0; i < length; ++i) different |= static_cast<unsigned>(text[i] ^ g_secret[i]);
  return different == 0;
}

// The secret comes first, then one line, in any number of pieces. False: the client must be dropped.
bool read_request(Client& client) {
  ssize_t got = recv(client.connection, client.text + client.have, sizeof client.text - 1 - client.have, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  client.have += static_cast<size_t>(got);
  client.text[client.have] = '\0';
  size_t length = std::strlen(g_secret);
  if (client.have < length) return true;
  if (!client.knows_secret && !is_secret(client.text, length)) return false;
  client.knows_secret = true;
  const char* request = client.text + length;
  if (std::strchr(request, '\n') == nullptr) return client.have < sizeof client.text - 1;
  client.server = connect_to_server(request);
  size_t bytes = client.have - length;
  if (client.server < 0 || send(client.server, request, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
    return false;
  client.have = client.sent = 0;
  return true;
}

// Passes on the next piece of the answer. False: all of it has been passed on, or the client must be dropped.
bool pass_on(Client& client) {
  if (client.sent == client.have && !client.server_has_ended) {
    ssize_t got = recv(client.server, client.text, sizeof client.text, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    client.have = static_cast<size_t>(got);
    client.sent = 0;
    client.server_has_ended = got == 0;
  }
  if (client.server_has_ended) return false;
  ssize_t sent = send(client.connection, client.text + client.sent, client.have - client.sent, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  client.sent += static_cast<size_t>(sent);
  return true;
}

// The place for one more client without the secret: a free one, or that of the oldest such client if there are too
// many.
Client* place_for_stranger() {
  Client *unused = nullptr, *oldest = nullptr;
  int strangers = 0;
  for (Client& one : g_clients) {
    if (one.connection < 0) {
      unused = &one;
    } else if (!one.knows_secret) {
      ++strangers;
      if (oldest == nullptr || one.since < oldest->since) oldest = &one;
    }
  }
  if (strangers < kMostStrangers && unused != nullptr) return unused;
  if (oldest != nullptr) end(*oldest);
  return oldest;
}

void take_client(int connection) {
  Client* place = place_for_stranger();
  if (place == nullptr) {  // all places are taken by clients that know the secret
    close(connection);
    return;
  }
  place->connection = connection;
  place->knows_secret = place->server_has_ended = false;
  place->have = place->sent = 0;
  place->since = nanoseconds_now();
}

// Accepts fewer clients at a time than there are places for strangers, so each new client is served before it can be
// the oldest. False: the port is closed.
bool take_clients(int listener) {
  for (int i = 0; i < kMostStrangers / 2; ++i) {
    int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection >= 0) {
      take_client(connection);
      continue;
    }
    if (g_stopped.load(acquire)) return false;  // pairs with inspect_relay_stop
    if (errno == EMFILE || errno == ENFILE) usleep(100'000);
    return true;  // no more of them, out of descriptors, or an aborted connection
  }
  return true;
}

// What a client waits for: data from itself, data from the socket, or room to send to itself.
pollfd awaited(const Client& client) {
  if (client.connection < 0 || client.server < 0) return {client.connection, POLLIN, 0};  // poll passes over -1
  if (client.sent < client.have) return {client.connection, POLLOUT, 0};
  return {client.server, POLLIN, 0};
}

void attend(Client& client, bool is_ready, uint64_t now) {
  if (client.connection < 0) return;
  bool stays = true;
  if (is_ready) {
    stays = client.server < 0 ? read_request(client) : pass_on(client);
    if (client.knows_secret) client.since = now;  // a stranger gets no more time for sending in small pieces
  }
  if (!stays || now - client.since > kPatience) end(client);
}

void relay_main(void*) {
  int listener = g_listener.load(relaxed);
  for (;;) {
    pollfd fds[kMostClients + 1];
    bool is_alone = true;
    for (int i = 0; i < kMostClients; ++i) {
      fds[i] = awaited(g_clients[i]);
      is_alone = is_alone && fds[i].fd < 0;
    }
    fds[kMostClients] = {listener, POLLIN, 0};
    constexpr int kSecond = 1000;  // after which patience may be at its end
    if (poll(fds, kMostClients + 1, is_alone ? -1 : kSecond) < 0 && errno != EINTR) return;
    uint64_t now = nanoseconds_now();
    for (int i = 0; i < kMostClients; ++i) attend(g_clients[i], fds[i].revents != 0, now);
    if (fds[kMostClients].revents != 0 && !take_clients(listener)) break;
  }
  for (Client& client : g_clients) end(client);
}

// A socket at any address and a free port, for listen(). -1: impossible.
int open_listener() {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener >= 0 && bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return listener;
  if (listener >= 0) close(listener);  // no IPv6
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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
  int port = listen(listener, kMostClients) == 0 ? port_of(listener) : 0;
  for (Client& client : g_clients) client.connection = client.server = -1;
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
  shutdown(listener, SHUT_RDWR);   // ends poll
}

void inspect_relay_after_fork() {
  int listener = g_listener.load(relaxed);
  if (listener < 0) return;
  close(listener);
  g_listener.store(-1, relaxed);
  for (Client& client : g_clients) end(client);  // else clients would wait for this process's end, too
}

}  // namespace marline
