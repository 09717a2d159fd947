// SPDX-License-Identifier: Apache-2.0
//
// Opens the links between the processes. Between processes of one node, the socket of the link transfers a memfd with a
// ring for each direction, and the bells. None of them has a name, so no file is left after the job.
#include "wire/base/give_up.hpp"
#include "wire/base/peers.hpp"
#include "wire/local/handshake.hpp"
#include "wire/local/host_watch.hpp"
#include "wire/local/local_meet.hpp"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

constexpr timespec kRetry = {0, 5'000'000};

bool shares_memory(const LocalWire* wire, int peer) {
  return are_on_one_node(wire->peers[wire->number], wire->peers[peer]);
}

struct Opening {
  LocalWire* wire;
  Meeting& meeting;
  size_t ring_bytes;
  int bell_memory;  // a memfd
};

// Rings that fit in a cache; smaller ones if there are many, so that they take fewer pages.
size_t ring_bytes_for(const LocalWire* wire) {
  int sharing = 0;
  for (int i = 0; i < wire->count; ++i) sharing += shares_memory(wire, i) ? 1 : 0;
  return sharing <= 16 ? 256 << 10 : 64 << 10;
}

[[noreturn]] void give_up_on(const Opening& opening, int peer, const char* what) {
  give_up(opening.wire->user, "process %d of the job cannot open a link to process %d: %s", opening.wire->number, peer,
          what);
}

int open_memory(const Opening& opening, const char* name, size_t bytes) {
  int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    give_up(opening.wire->user, "no shared memory for the job's process %d: %s", opening.wire->number, strerror(errno));
  }
  return file;
}

// Returns null if the file does not have the expected size, or cannot be mapped.
void* map_file(int file, size_t bytes) {
  struct stat facts;
  if (fstat(file, &facts) != 0 || facts.st_size != static_cast<off_t>(bytes)) return nullptr;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

// `files`: the memory of the rings, the memory of the peer's bell, the event file of the peer's bell.
bool attach(const Opening& opening, Link& link, const int files[3]) {
  Transport& t = link.transport;
  size_t one = kRingData + opening.ring_bytes;
  t.memory_bytes = 2 * one;
  t.memory = map_file(files[0], t.memory_bytes);
  t.bell = static_cast<Bell*>(map_file(files[1], sizeof(Bell)));
  t.bell_file = files[2];
  close(files[0]);
  close(files[1]);
  if (t.memory == nullptr || t.bell == nullptr) return false;
  char* lower = static_cast<char*>(t.memory);  // what the process with the lower number writes
  bool is_lower = opening.wire->number < link.peer;
  t.out.open(is_lower ? lower : lower + one, opening.ring_bytes);
  t.in.open(is_lower ? lower + one : lower, opening.ring_bytes);
  return true;
}

bool exchange_as_connector(const Opening& opening, Link& link, int socket, Deadline deadline) {
  int rings = open_memory(opening, "marline-rings", 2 * (kRingData + opening.ring_bytes));
  int mine[] = {rings, opening.bell_memory, opening.wire->bell_file}, theirs[] = {rings, -1, -1};
  return send_files(socket, mine, 3, deadline) && receive_files(socket, theirs + 1, 2, deadline) &&
         attach(opening, link, theirs);
}

// `theirs`: the files that the connecting process has sent.
bool exchange_as_accepter(const Opening& opening, Link& link, int socket, const int (&theirs)[3]) {
  int mine[] = {opening.bell_memory, opening.wire->bell_file};
  // Nothing else is in the socket's buffer, so the message is sent at once.
  return send_files(socket, mine, 2, Deadline(0)) && attach(opening, link, theirs);
}

// The sizes of the buffers are left to the system, which lets TCP's buffers grow beyond what a program may ask for.
// Congestion control is left to the system, too, except within a machine, where there is no congestion: BBR delays by
// timers what could be sent at once. Reno is in every Linux.
bool prepare_stream(const LocalWire* wire, Link& link, int socket) {
  constexpr char kNoPacing[] = "reno";
  int one = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (are_on_one_machine(wire->peers[wire->number], wire->peers[link.peer])) {
    setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kNoPacing, sizeof kNoPacing - 1);
  }
  ask_host(socket, wire->host_timeout);
  link.transport.silence = wire->silence;
  link.transport.stage = static_cast<char*>(std::malloc(kStage));
  return link.transport.stage != nullptr;
}

bool register_link(const Opening& opening, Link& link, int socket) {
  LocalWire* wire = opening.wire;
  if (!link.decoder.open(wire->job_word)) return false;
  link.transport.socket.store(socket, std::memory_order_relaxed);
  epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data = {.ptr = &link}};
  if (epoll_ctl(wire->sockets, EPOLL_CTL_ADD, socket, &event) != 0) return false;
  link.gone.store(false, std::memory_order_relaxed);
  return true;
}

bool finish_stream(const Opening& opening, Link& link, int socket) {
  if (!prepare_stream(opening.wire, link, socket)) return false;
  ++opening.wire->streams;
  return register_link(opening, link, socket);
}

int connect_to_peer(const Opening& opening, int peer, Deadline deadline) {
  const Card& card = opening.meeting.cards[peer];
  for (;;) {
    int socket = connect_to(shares_memory(opening.wire, peer) ? card.shared : card.stream, deadline);
    if (socket >= 0) return socket;
    if (errno != EAGAIN || deadline.left() == 0) give_up_on(opening, peer, why_no_link(strerror(errno)));
    nanosleep(&kRetry, nullptr);  // the peer's listen queue is full
  }
}

// Until the peer sends its acceptance, it may close the connection as one of too many unknown ones. This process then
// tries again.
void connect_link(const Opening& opening, int peer, Deadline deadline) {
  int socket = connect_to_peer(opening, peer, deadline);
  for (;;) {
    HandshakeResult handshake = greet(socket, opening.meeting.job, peer, Purpose::kLink, deadline);
    if (handshake == HandshakeResult::kStranger) give_up_on(opening, peer, "another process answers in its place");
    if (handshake == HandshakeResult::kDone) break;
    if (deadline.left() == 0) give_up_on(opening, peer, "it does not answer");
    close(socket);
    nanosleep(&kRetry, nullptr);
    socket = connect_to_peer(opening, peer, deadline);
  }
  Link& link = opening.wire->links[peer];
  link.transport.shared = shares_memory(opening.wire, peer);
  errno = 0;
  bool open = link.transport.shared
                  ? exchange_as_connector(opening, link, socket, deadline) && register_link(opening, link, socket)
                  : finish_stream(opening, link, socket);
  if (!open) give_up_on(opening, peer, why_no_link(deadline.left() == 0 ? "it does not answer" : "it has ended"));
}

void accept_link(const Opening& opening, const Caller& caller) {
  Link& link = opening.wire->links[caller.number];
  link.transport.shared = shares_memory(opening.wire, caller.number);
  const int files[] = {caller.files[0], caller.files[1], caller.files[2]};
  errno = 0;
  bool open = link.transport.shared ? exchange_as_accepter(opening, link, caller.socket, files) &&
                                          register_link(opening, link, caller.socket)
                                    : finish_stream(opening, link, caller.socket);
  if (!open) give_up_on(opening, caller.number, why_no_link("it has ended"));
}

void accept_links(const Opening& opening) {
  const LocalWire* wire = opening.wire;
  auto* here = static_cast<bool*>(std::calloc(static_cast<size_t>(wire->count), sizeof(bool)));
  if (here == nullptr) give_up(wire->user, "no memory for %d processes", wire->count);
  for (int i = 0; i <= wire->number; ++i) here[i] = true;
  const int listeners[] = {opening.meeting.shared_listener, opening.meeting.stream_listener};
  Expected expected = {
      .files = [](const void* data,
                  int number) { return shares_memory(static_cast<const LocalWire*>(data), number) ? 3 : 0; },
      .data = wire};
  Reception reception;
  open_reception(opening.meeting, reception, Purpose::kLink, expected, listeners, 2);
  Deadline deadline = patience_of(opening.meeting.job);
  for (int missing = wire->count - wire->number - 1; missing > 0; --missing) {
    Caller caller = next_caller(opening.meeting, reception, here, deadline, "to open their links");
    accept_link(opening, caller);
    here[caller.number] = true;
  }
  reception.close();
  std::free(here);
}

}  // namespace

void open_links(LocalWire* wire, Meeting& meeting) {
  Opening opening = {wire, meeting, ring_bytes_for(wire), -1};
  opening.bell_memory = open_memory(opening, "marline-bell", sizeof(Bell));
  wire->bell = static_cast<Bell*>(map_file(opening.bell_memory, sizeof(Bell)));
  if (wire->bell == nullptr) give_up(wire->user, "no shared memory for the job's process %d", wire->number);
  Deadline deadline = patience_of(meeting.job);
  for (int peer = 0; peer < wire->number; ++peer) connect_link(opening, peer, deadline);
  accept_links(opening);
  close(opening.bell_memory);
}

}  // namespace marline::offload::wire
