// SPDX-License-Identifier: Apache-2.0
//
// Parses addresses, opens sockets, and sends and receives by a deadline.
#include "wire/local/sockets.hpp"

#include "wire/local/crowding.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

uint64_t now_in_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

const char* parse_unix(const char* name, Address& address) {
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  size_t length = std::strlen(name);
  if (length == 0 || length >= sizeof local->sun_path) return "the name is empty or too long";
  local->sun_family = AF_UNIX;
  std::memcpy(local->sun_path + 1, name, length);  // after a zero byte: an abstract name
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return nullptr;
}

// Tries IPv4 first, so that all processes choose the same address family.
const char* resolve(const char* host, const char* port, Address& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  for (int family : {AF_INET, AF_INET6}) {
    addrinfo* found = nullptr;
    hints.ai_family = family;
    if (getaddrinfo(host, port, &hints, &found) != 0) continue;
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.length = found->ai_addrlen;
    freeaddrinfo(found);
    return address.port() != 0 ? nullptr : "there is no such port";
  }
  return "the host is not known, or the port is no number";
}

const char* parse_tcp(const char* text, Address& address) {
  char host[256];
  const char* colon = std::strrchr(text, ':');
  if (colon == nullptr || colon == text || colon[1] == '\0') return "host or port is missing";
  auto length = static_cast<size_t>(colon - text);
  if (*text == '[' && colon[-1] == ']') {
    ++text;
    length -= 2;
  }
  if (length >= sizeof host) return "the host's name is too long";
  std::memcpy(host, text, length);
  host[length] = '\0';
  return resolve(host, colon + 1, address);
}

int open_socket(int family) { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

int close_with_error(int socket) {
  int error = errno;
  close(socket);
  errno = error;
  return -1;
}

bool is_retryable() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Deadline::Deadline(int milliseconds)
    : begin_(now_in_milliseconds()), end_(begin_ + static_cast<uint64_t>(milliseconds)) {}

Deadline Deadline::by_load(int milliseconds) {
  Deadline deadline(milliseconds);
  deadline.on_idle_machine_ = milliseconds;
  return deadline;
}

// Reads the load only when the time is over, because the load during the wait counts.
int Deadline::left() const {
  uint64_t now = now_in_milliseconds();
  if (now >= end_ && on_idle_machine_ != 0) {
    uint64_t end = begin_ + static_cast<uint64_t>(on_idle_machine_ * g_crowding());
    end_ = std::max(end_, end);
  }
  return now < end_ ? static_cast<int>(std::min<uint64_t>(end_ - now, INT_MAX)) : 0;
}

double Deadline::waited() const { return static_cast<double>((now_in_milliseconds() - begin_) / 100) / 10.0; }

uint16_t Address::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  return family() == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port) : 0;
}

void Address::set_port(uint16_t port) {
  if (family() == AF_INET) reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
}

const char* parse_address(const char* text, Address& address) {
  address = {};
  if (std::strncmp(text, "unix:@", 6) == 0) return parse_unix(text + 6, address);
  if (std::strncmp(text, "tcp:", 4) == 0) return parse_tcp(text + 4, address);
  return "it is neither";
}

Address loopback_address() {
  Address address = {};
  auto* inet = reinterpret_cast<sockaddr_in*>(&address.storage);
  inet->sin_family = AF_INET;
  inet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.length = sizeof *inet;
  return address;
}

Address unnamed_address() {
  Address address = {};
  address.storage.ss_family = AF_UNIX;
  address.length = sizeof(sa_family_t);  // unix(7), "Autobind feature"
  return address;
}

bool is_own_name(const Address& address) {
  if (address.family() != AF_INET) return false;
  uint32_t host = ntohl(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr);
  return host >> 24 == IN_LOOPBACKNET && host != INADDR_LOOPBACK;
}

Address of_all_interfaces(const Address& address) {
  Address wide = address;
  if (address.family() == AF_INET) reinterpret_cast<sockaddr_in*>(&wide.storage)->sin_addr.s_addr = htonl(INADDR_ANY);
  if (address.family() == AF_INET6) reinterpret_cast<sockaddr_in6*>(&wide.storage)->sin6_addr = IN6ADDR_ANY_INIT;
  return wide;
}

bool Network::has(const Address& other) const {
  if (other.family() != AF_INET) return false;
  uint32_t host = ntohl(reinterpret_cast<const sockaddr_in*>(&other.storage)->sin_addr.s_addr);
  return (host & mask) == (address & mask);
}

bool parse_network(const char* text, Network& network) {
  char host[INET_ADDRSTRLEN];
  size_t length = std::strcspn(text, "/");
  in_addr address;
  if (length >= sizeof host) return false;
  std::memcpy(host, text, length);
  host[length] = '\0';
  if (inet_pton(AF_INET, host, &address) != 1) return false;
  unsigned long bits = 32;
  char* end = const_cast<char*>(text) + length;
  if (*end == '/') {
    if (end[1] < '0' || end[1] > '9') return false;
    bits = std::strtoul(end + 1, &end, 10);
  }
  if (*end != '\0' || bits > 32) return false;
  network.address = ntohl(address.s_addr);
  network.mask = bits == 0 ? 0 : UINT32_MAX << (32 - bits);
  return true;
}

Address own_address(int socket) {
  Address address = {};
  address.length = sizeof address.storage;
  if (getsockname(socket, address.get(), &address.length) != 0) address = {};
  return address;
}

Address peer_address(int socket) {
  Address address = {};
  address.length = sizeof address.storage;
  if (getpeername(socket, address.get(), &address.length) != 0) address = {};
  return address;
}

int listen_at(const Address& address) {
  int socket = open_socket(address.family());
  if (socket < 0) return -1;
  int one = 1;
  if (address.family() != AF_UNIX) setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  bool listens = bind(socket, address.get(), address.length) == 0 && listen(socket, SOMAXCONN) == 0;
  return listens ? socket : close_with_error(socket);
}

namespace {

// Whether a process of another user is at the other end of a Unix socket. TCP sockets do not show the user.
bool is_of_another_user(int socket) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  int domain = AF_UNSPEC;
  socklen_t domain_size = sizeof domain;
  getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size);
  if (domain != AF_UNIX) return false;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid();
}

int refuse_other_users(int socket) {
  if (!is_of_another_user(socket)) return socket;
  errno = EACCES;
  return close_with_error(socket);
}

}  // namespace

Source source_of(int socket) {
  Source source = {};
  Address address = peer_address(socket);
  source.words[0] = static_cast<uint64_t>(address.family());
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (address.family() == AF_INET) {
    source.words[1] = reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr.s_addr;
  } else if (address.family() == AF_INET6) {
    std::memcpy(&source.words[1], &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr, 16);
  } else if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    source.words[1] = static_cast<uint64_t>(peer.pid);
  }
  return source;
}

int accept_from(int listener) {
  int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return socket >= 0 ? refuse_other_users(socket) : -1;
}

int connect_to(const Address& address, Deadline deadline) {
  int socket = open_socket(address.family());
  if (socket < 0) return -1;
  if (connect(socket, address.get(), address.length) == 0) return refuse_other_users(socket);
  if (errno != EINPROGRESS) return close_with_error(socket);
  int error = ETIMEDOUT;
  socklen_t size = sizeof error;
  if (wait_for(socket, POLLOUT, deadline)) getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return socket;
  errno = error;
  return close_with_error(socket);
}

bool may_come(int error) {
  return error == ECONNREFUSED || error == ENOENT || error == EAGAIN || error == ETIMEDOUT || error == EINTR ||
         error == EHOSTUNREACH || error == ENETUNREACH || error == ECONNRESET;
}

bool wait_for(int socket, short events, Deadline deadline) {
  pollfd file = {socket, events, 0};
  for (;;) {
    int left = deadline.left();
    int found = poll(&file, 1, left);
    if (found > 0) return true;
    if (left == 0 || (found < 0 && errno != EINTR)) return false;
  }
}

bool send_all(int socket, const void* bytes, size_t count, Deadline deadline) {
  const char* at = static_cast<const char*>(bytes);
  while (count != 0) {
    ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);
    if (sent < 0 && (!is_retryable() || !wait_for(socket, POLLOUT, deadline))) return false;
    if (sent < 0) continue;
    at += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

ssize_t receive_some(int socket, void* bytes, size_t count) {
  ssize_t got = recv(socket, bytes, count, 0);
  if (got < 0 && errno == EINTR) errno = EAGAIN;
  return got;
}

bool receive_all(int socket, void* bytes, size_t count, Deadline deadline) {
  char* at = static_cast<char*>(bytes);
  while (count != 0) {
    ssize_t got = receive_some(socket, at, count);
    if (got == 0 || (got < 0 && (!is_retryable() || !wait_for(socket, POLLIN, deadline)))) return false;
    if (got < 0) continue;
    at += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

namespace {

struct FilesMessage {
  char byte = 1;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFiles * sizeof(int))] = {};
  msghdr header = {};

  explicit FilesMessage(int count) {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(static_cast<size_t>(count) * sizeof(int));
  }
};

}  // namespace

bool send_files(int socket, const int* files, int count, Deadline deadline) {
  FilesMessage message(count);
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(static_cast<size_t>(count) * sizeof(int));
  std::memcpy(CMSG_DATA(control), files, static_cast<size_t>(count) * sizeof(int));
  for (;;) {
    if (sendmsg(socket, &message.header, MSG_NOSIGNAL) == 1) return true;
    if (!is_retryable() || !wait_for(socket, POLLOUT, deadline)) return false;
  }
}

bool receive_files_now(int socket, int* files, int count) {
  FilesMessage message(kMostFiles);
  ssize_t bytes = recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC);
  if (bytes != 1) {
    if (bytes == 0) errno = ECONNRESET;
    if (bytes < 0 && errno == EINTR) errno = EAGAIN;
    return false;
  }
  bool is_cut = (message.header.msg_flags & MSG_CTRUNC) != 0;  // there are too few descriptors for the files
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  errno = is_cut ? EMFILE : EPROTO;
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) return false;
  int found = static_cast<int>((control->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  int got[kMostFiles];
  std::memcpy(got, CMSG_DATA(control), static_cast<size_t>(found) * sizeof(int));
  for (int i = 0; i < found; ++i) {
    if (found == count) files[i] = got[i];
    if (found != count) close(got[i]);
  }
  return found == count;
}

bool receive_files(int socket, int* files, int count, Deadline deadline) {
  while (!receive_files_now(socket, files, count)) {
    if (errno != EAGAIN || !wait_for(socket, POLLIN, deadline)) return false;
  }
  return true;
}

}  // namespace marline::offload::wire
