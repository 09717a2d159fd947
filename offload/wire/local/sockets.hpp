// SPDX-License-Identifier: Apache-2.0
//
// Sockets while a job meets: every call ends by a deadline. All sockets made here are non-blocking and closed by exec.
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
  // One that is put off while the machine has more threads that want to run than CPUs (crowding.hpp): to as many times
  // that many milliseconds, from now.
  [[nodiscard]] static Deadline by_load(int milliseconds);

  [[nodiscard]] int left() const;       // milliseconds; 0: it is over
  [[nodiscard]] double waited() const;  // seconds since its begin, in tenths

 private:
  uint64_t begin_;
  int on_idle_machine_ = 0;  // milliseconds; 0: it is not put off
  mutable uint64_t end_;     // by_load: as of the last look
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

// "unix:@NAME" or "tcp:HOST:PORT"; a HOST with colons in brackets. Null, or else what is wrong.
[[nodiscard]] const char* parse_address(const char* text, Address& address);
[[nodiscard]] Address loopback_address();  // any port
[[nodiscard]] Address unnamed_address();   // the system finds an abstract name
// A machine may know itself by an address like 127.0.1.1, by which others do not know it: these mean another one of it.
[[nodiscard]] bool is_own_name(const Address& address);
[[nodiscard]] Address of_all_interfaces(const Address& address);
[[nodiscard]] Address own_address(int socket);
[[nodiscard]] Address peer_address(int socket);

// Addresses of IPv4 whose first bits are the same; all, if no bits count.
struct Network {
  uint32_t address = 0, mask = 0;  // in the host's byte order

  [[nodiscard]] bool has(const Address& other) const;
};
// "10.1.0.0/16", or an address. False: it is neither.
[[nodiscard]] bool parse_network(const char* text, Network& network);

// Where a connection comes from: a host, or within the machine a process. Two sockets of one source compare equal.
struct Source {
  uint64_t words[3];

  bool operator==(const Source& other) const = default;
};
[[nodiscard]] Source source_of(int socket);

// All: a socket, or -1 with errno. Over sockets of the machine only processes of this one's user are met: EACCES is
// another user's.
[[nodiscard]] int listen_at(const Address& address);
[[nodiscard]] int accept_from(int listener);
[[nodiscard]] int connect_to(const Address& address, Deadline deadline);  // one try
// Whether a try that failed may succeed later.
[[nodiscard]] bool may_come(int error);

// False: the peer has closed, or the deadline is over.
[[nodiscard]] bool send_all(int socket, const void* bytes, size_t count, Deadline deadline);
[[nodiscard]] bool receive_all(int socket, void* bytes, size_t count, Deadline deadline);
[[nodiscard]] bool wait_for(int socket, short events, Deadline deadline);

// As much of `bytes` as is there: -1 with errno EAGAIN if none is, 0: the peer has closed.
[[nodiscard]] ssize_t receive_some(int socket, void* bytes, size_t count);

// A byte with open files. `files` that are received belong to the caller; exactly `count`, or false and none; errno is
// EMFILE if this process may open no more.
inline constexpr int kMostFiles = 4;
[[nodiscard]] bool send_files(int socket, const int* files, int count, Deadline deadline);
[[nodiscard]] bool receive_files(int socket, int* files, int count, Deadline deadline);
// The same without waiting: false with errno EAGAIN if it has not come yet.
[[nodiscard]] bool receive_files_now(int socket, int* files, int count);

}  // namespace marline::offload::wire
