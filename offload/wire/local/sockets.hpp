// SPDX-License-Identifier: Apache-2.0
//
// Sockets for the time when a job meets: every call ends by a deadline. All sockets made here are non-blocking and
// closed by exec.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>

namespace marline::offload::wire {

class Deadline {
 public:
  explicit Deadline(int milliseconds);
  // A deadline that moves while the machine has more runnable threads than CPUs (crowding.hpp): to `milliseconds` times
  // the crowding, from now.
  [[nodiscard]] static Deadline by_load(int milliseconds);

  [[nodiscard]] int left() const;       // milliseconds; 0: it is over
  [[nodiscard]] double waited() const;  // seconds since the start, in tenths

 private:
  uint64_t begin_;
  int on_idle_machine_ = 0;  // milliseconds; 0: the deadline does not move
  mutable uint64_t end_;     // for by_load: as computed by the last look
};

struct Address {
  sockaddr_storage storage;
  socklen_t length;

  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] uint16_t port() const;
  void set_port(uint16_t port);
};

// Parses "unix:@NAME" or "tcp:HOST:PORT"; a HOST with colons is in brackets. Returns null, or what is wrong.
[[nodiscard]] const char* parse_address(const char* text, Address& address);
[[nodiscard]] Address loopback_address();  // any port
[[nodiscard]] Address unnamed_address();   // the system chooses an abstract name
// Whether the address is one like 127.0.1.1: a machine may know itself by it, but other machines do not reach it so.
[[nodiscard]] bool is_own_name(const Address& address);
// The same port on all interfaces of this machine.
[[nodiscard]] Address of_all_interfaces(const Address& address);
[[nodiscard]] Address own_address(int socket);
[[nodiscard]] Address peer_address(int socket);

// IPv4 addresses with the same first bits; all addresses if the mask is 0.
struct Network {
  uint32_t address = 0, mask = 0;  // in the host's byte order

  [[nodiscard]] bool has(const Address& other) const;
};
// Parses "10.1.0.0/16", or one address. Returns false if the text is neither.
[[nodiscard]] bool parse_network(const char* text, Network& network);

// Where a connection comes from: a host, or within the machine a process. Two sockets of one source compare equal.
struct Source {
  uint64_t words[3];

  bool operator==(const Source& other) const = default;
};
[[nodiscard]] Source source_of(int socket);

// These functions return a socket, or -1 with errno. By a Unix socket they connect only processes of the same user:
// EACCES means that the other process is of another user.
[[nodiscard]] int listen_at(const Address& address);
[[nodiscard]] int accept_from(int listener);
[[nodiscard]] int connect_to(const Address& address, Deadline deadline);  // one try
// Whether a connection that failed with this error may succeed later.
[[nodiscard]] bool may_come(int error);

// These functions return false if the peer has closed the connection, or the deadline is over.
[[nodiscard]] bool send_all(int socket, const void* bytes, size_t count, Deadline deadline);
[[nodiscard]] bool receive_all(int socket, void* bytes, size_t count, Deadline deadline);
[[nodiscard]] bool wait_for(int socket, short events, Deadline deadline);

// Reads up to `count` bytes that have arrived. Returns -1 with errno EAGAIN if there are none, and 0 if the peer has
// closed the connection.
[[nodiscard]] ssize_t receive_some(int socket, void* bytes, size_t count);

// One byte together with open files. Received `files` belong to the caller: exactly `count`, or none and false; errno
// is EMFILE if this process may open no more files.
inline constexpr int kMostFiles = 4;
[[nodiscard]] bool send_files(int socket, const int* files, int count, Deadline deadline);
[[nodiscard]] bool receive_files(int socket, int* files, int count, Deadline deadline);
// The same without waiting: false with errno EAGAIN if the message has not arrived yet.
[[nodiscard]] bool receive_files_now(int socket, int* files, int count);

}  // namespace marline::offload::wire
