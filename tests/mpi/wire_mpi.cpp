// SPDX-License-Identifier: Apache-2.0
//
// The wire `mpi`: a program that loads its library and sends frames between all ranks. Every byte of a frame follows
// from its sender, receiver and number, and is checked where it arrives.
//
// Usage: wire_mpi LIBRARY CASE [OTHER_SECRET]
#include "wire_mpi.hpp"

#include <mpi.h>

#include <cerrno>
#include <pthread.h>
#include <unistd.h>

namespace {

void settle(Node& node) {
  while (!node.is_complete()) {
    if (node.kind->poll(node.wire) == 0) node.kind->wait(node.wire, 100);
  }
}

void sizes(Node& node) {
  const uint64_t all[] = {0, 1, 7, 8, 4095, 8191, 8192, 8193, 65536, 1048577, 0, 3};
  for (int round = 0; round < 20; ++round) {
    for (uint64_t bytes : all) node.send_to_all(bytes);
  }
  node.expect_from_all(20 * sizeof all / sizeof all[0]);
  settle(node);
}

// Bulks of more than one piece, in both directions at once, followed by small frames that must not overtake them.
void large(Node& node) {
  for (int i = 0; i < 3; ++i) {
    node.send_to_all(uint64_t{100} << 20);
    node.send_to_all(0);
    node.send_to_all(20000);
  }
  node.expect_from_all(9);
  settle(node);
}

void storm(Node& node) {
  uint64_t random = 88172645463325252u + static_cast<uint64_t>(node.number);
  for (int i = 0; i < 3000; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const uint64_t bytes = random % 40 == 0 ? random % 300000 : random % 3 == 0 ? random % 9000 : 0;
    node.send_to_all(bytes);
    if (i % 16 == 0) node.kind->poll(node.wire);
    for (int peer = 0; peer < node.count; ++peer) {
      while (peer != node.number && !node.kind->has_room(node.wire, peer)) node.kind->poll(node.wire);
    }
  }
  node.expect_from_all(3000);
  settle(node);
}

// Frames are sent without checking for room, while no process receives.
void queued(Node& node) {
  if (node.number == 0) {
    for (int i = 0; i < 100000; ++i) node.send(1, 0);
    expect(!node.kind->has_room(node.wire, 1), "there is no room with 10^5 frames queued");
  } else {
    usleep(200000);
    node.due[0] = 100000;
  }
  settle(node);
}

// Each delivered frame is answered from within `deliver`, up to a number.
void answers(Node& node) {
  node.answers = 2000;
  if (node.number == 0) node.send_to_all(10);
  for (int peer = 0; peer < node.count; ++peer) {
    if (peer != node.number && (node.number == 0 || peer == 0)) node.due[peer] = 1000;
  }
  settle(node);
}

// Frames with a bulk that the receiver does not want, between other frames.
void dropped(Node& node) {
  node.drops = true;
  for (uint64_t bytes : {uint64_t{100}, uint64_t{100000}, uint64_t{150} << 20, uint64_t{5}}) node.send_to_all(bytes);
  node.expect_from_all(4);
  settle(node);
}

void* wake_soon(void* of) {
  auto* node = static_cast<Node*>(of);
  usleep(30000);
  node->kind->wake(node->wire);
  return nullptr;
}

void* send_soon(void* of) {
  usleep(30000);
  static_cast<Node*>(of)->send(1, 100000);
  return nullptr;
}

double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A ring before `wait` is not lost. A ring during `wait`, a frame, or the time limit ends it. `wait` leaves the core to
// others.
void waits(Node& node) {
  node.kind->wake(node.wire);
  double begin = MPI_Wtime();
  node.kind->wait(node.wire, 5000);
  expect(MPI_Wtime() - begin < 2, "a ring before wait ends it");
  pthread_t thread;
  pthread_create(&thread, nullptr, wake_soon, &node);
  begin = MPI_Wtime();
  node.kind->wait(node.wire, 5000);
  expect(MPI_Wtime() - begin < 2, "a ring ends wait");
  pthread_join(thread, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  const double cpu = cpu_seconds();
  begin = MPI_Wtime();
  node.kind->wait(node.wire, 400);
  expect(MPI_Wtime() - begin > 0.3 && MPI_Wtime() - begin < 3, "wait ends when its time is over");
  expect(cpu_seconds() - cpu < 0.2, "a thread that waits leaves its core");
  MPI_Barrier(MPI_COMM_WORLD);
  if (node.number == 0) pthread_create(&thread, nullptr, send_soon, &node);
  if (node.number == 1) node.due[0] = 1;
  begin = MPI_Wtime();
  while (!node.is_complete()) {
    node.kind->wait(node.wire, 5000);
    node.kind->poll(node.wire);
  }
  expect(MPI_Wtime() - begin < 2, "a frame ends wait");
  if (node.number == 0) pthread_join(thread, nullptr);
  settle(node);
}

// Whether so many frames have come from process 0, within some milliseconds. `must`: waits until they have come.
bool come(Node& node, uint64_t frames, bool must) {
  for (int i = 0; (must || i < 20) && node.got[0] < frames; ++i) {
    if (node.kind->poll(node.wire) == 0) usleep(1000);
  }
  return node.got[0] >= frames;
}

// Two of three frames may wait (Node::flags_of). They do so until the sender sends another one, leaves, or polls, which
// `wait` asks it to do.
void together(Node& node) {
  constexpr uint64_t kSent[] = {2, 3, 5, 7, 8}, kAll = 108;  // frames, at the end of each part
  for (int part = 0; part < 5; ++part) {
    MPI_Barrier(MPI_COMM_WORLD);
    while (node.number == 0 && node.next[1] < kSent[part]) node.send(1, 8);
    if (node.number == 0 && part == 4) {
      const double begin = MPI_Wtime();
      node.kind->wait(node.wire, 5000);
      expect(MPI_Wtime() - begin < 2, "wait ends when a frame waits");
    }
    if (node.number == 0 && (part == 2 || part == 4)) node.kind->poll(node.wire);
    MPI_Barrier(MPI_COMM_WORLD);  // all frames have been sent
    const bool must = part != 0 && part != 3;
    if (node.number == 1) expect(come(node, kSent[part], must) == must, "frames that may wait do so");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  while (node.number == 0 && node.next[1] < kAll) node.send(1, 30);
  if (node.number == 1) node.due[0] = kAll;
  if (node.number == 1) settle(node);
}

struct Sender {
  Node* node;
  int to;
};

void* send_many(void* of) {
  auto* sender = static_cast<Sender*>(of);
  for (int i = 0; i < 3000; ++i) sender->node->send(sender->to, i % 50 == 0 ? 30000 : 16);
  return nullptr;
}

// One thread per peer sends, two poll.
void threads(Node& node) {
  Sender senders[kMostRanks];
  pthread_t ids[kMostRanks];
  node.expect_from_all(3000);
  for (int peer = 0; peer < node.count; ++peer) {
    senders[peer] = {&node, peer};
    if (peer != node.number) pthread_create(&ids[peer], nullptr, send_many, &senders[peer]);
  }
  pthread_t waker;
  pthread_create(&waker, nullptr, wake_soon, &node);
  settle(node);
  for (int peer = 0; peer < node.count; ++peer) {
    if (peer != node.number) pthread_join(ids[peer], nullptr);
  }
  pthread_join(waker, nullptr);
  settle(node);
}

// The program's own messages, received by wildcards, in the midst of the wire's.
void own_mpi(Node& node) {
  for (int i = 0; i < 500; ++i) {
    node.send_to_all(i % 10 == 0 ? 50000 : 24);
    int to = (node.number + 1) % node.count, got = -1;
    MPI_Request request;
    MPI_Isend(&i, 1, MPI_INT, to, i % 7, MPI_COMM_WORLD, &request);
    MPI_Status status;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(got == i && status.MPI_TAG == i % 7, "a wildcard receive of the program gets the program's message");
    if (i % 50 == 0) MPI_Barrier(MPI_COMM_WORLD);
    node.kind->poll(node.wire);
  }
  node.expect_from_all(500);
  settle(node);
}

void nothing(Node&) {}

struct Case {
  const char* name;
  void (*run)(Node&);
};
constexpr Case kCases[] = {{"sizes", sizes},       {"large", large},      {"storm", storm},   {"queued", queued},
                           {"answers", answers},   {"dropped", dropped},  {"waits", waits},   {"threads", threads},
                           {"together", together}, {"own_mpi", own_mpi},  {"early", sizes},   {"unstarted", sizes},
                           {"level", nothing},     {"serialized", storm}, {"secret", nothing}};

const Case& find_case(const char* name) {
  for (const Case& known : kCases) {
    if (std::strcmp(known.name, name) == 0) return known;
  }
  expect(false, "the case is known");
  return kCases[0];
}

// `unstarted`: the wire starts MPI, and ends it.
void start_mpi(const char* name) {
  if (std::strcmp(name, "unstarted") == 0) return;
  int wanted = MPI_THREAD_MULTIPLE, provided;
  if (std::strcmp(name, "level") == 0) wanted = MPI_THREAD_FUNNELED;
  if (std::strcmp(name, "serialized") == 0) wanted = MPI_THREAD_SERIALIZED;
  MPI_Init_thread(nullptr, nullptr, wanted, &provided);
  int keyval, value = 0;  // an attribute that the wire must not copy to its communicators
  MPI_Comm_create_keyval(
      [](MPI_Comm, int, void*, void*, void*, int*) -> int {
        expect(false, "no attribute of the program is copied");
        return MPI_ERR_OTHER;
      },
      MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  expect(argc > 2, "usage: wire_mpi LIBRARY CASE");
  const Case& found = find_case(argv[2]);
  const bool is_early = std::strcmp(found.name, "early") == 0;
  start_mpi(found.name);
  Node node;
  node.load(argv[1]);
  Job job{};
  if (std::strcmp(found.name, "secret") == 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &node.number);
    job.secret[0] = node.number == 1 ? 7 : 8;
  }
  node.join(job);
  found.run(node);
  if (is_early) MPI_Finalize();  // says goodbye
  node.kind->leave(node.wire, true);
  expect(node.sent == node.to_be_sent, "all bulks have been told to be sent");
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  expect((is_finalized != 0) == (is_early || std::strcmp(found.name, "unstarted") == 0), "MPI ends by its beginner");
  if (is_finalized == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  printf("rank %d: done\n", node.number);
  return 0;
}
