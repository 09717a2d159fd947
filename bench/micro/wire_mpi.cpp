// SPDX-License-Identifier: Apache-2.0
//
// What the wire `mpi` adds to MPI: 8 bytes to and fro, a bulk of 1 MiB to and fro, and a stream of such bulks; over the
// wire, and by MPI_Send and MPI_Recv of the same run, in turns. A frame with 8 bytes of content is a message of 88
// bytes, so 88 bytes are sent by MPI, too. Two ranks, which need a core each.
//
// Usage: mpirun -n 2 micro-wire_mpi-COMPILER-MPI LIBRARY [ROUNDS]
#include "wire/base/wire.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace marline::offload;
using namespace marline::offload::wire;

namespace {

constexpr int kMessages = 200, kBulks = 40, kWarmUp = 3, kMostRounds = 1000;
constexpr size_t kBytes = size_t{1} << 20;

const WireKind* g_kind;
Wire* g_wire;
int g_rank;
int g_got, g_sent;
char* g_from;
char* g_to;
Outgoing g_outgoing = {[](Outgoing*) { ++g_sent; }};

void* place(void*, int, const Frame&, const uint64_t*) { return g_to; }
void deliver(void*, int, const Frame&, const uint64_t*) { ++g_got; }

void until(int& counter, int value) {
  while (counter < value) g_kind->poll(g_wire);
}

void send_wire(size_t bytes) {
  Frame frame{};
  const uint64_t word = 1;
  frame.words = bytes == 8 ? 1 : 0;
  frame.bulk = bytes == 8 ? 0 : bytes;
  g_kind->send(g_wire, 1 - g_rank, frame, &word, g_from, &g_outgoing);
}

void to_and_fro_wire(size_t bytes, int times) {
  g_got = g_sent = 0;
  for (int i = 1; i <= times; ++i) {
    if (g_rank == 0) send_wire(bytes);
    until(g_got, i);
    if (g_rank == 1) send_wire(bytes);
  }
  until(g_sent, bytes == 8 ? 0 : times);
}

void stream_wire(size_t bytes, int times) {
  g_got = g_sent = 0;
  if (g_rank == 0) {
    for (int i = 0; i < times; ++i) send_wire(bytes);
    until(g_sent, times);
    until(g_got, 1);
  } else {
    until(g_got, times);
    send_wire(8);
  }
}

void send_plain(size_t bytes) { MPI_Send(g_from, static_cast<int>(bytes), MPI_BYTE, 1 - g_rank, 0, MPI_COMM_WORLD); }
void recv_plain(size_t bytes) {
  MPI_Recv(g_to, static_cast<int>(bytes), MPI_BYTE, 1 - g_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void to_and_fro_plain(size_t bytes, int times) {
  for (int i = 0; i < times; ++i) {
    if (g_rank == 0) send_plain(bytes);
    recv_plain(bytes);
    if (g_rank == 1) send_plain(bytes);
  }
}

void to_and_fro_frame(size_t bytes, int times) { to_and_fro_plain(sizeof(Frame) + bytes, times); }

void stream_plain(size_t bytes, int times) {
  for (int i = 0; i < times; ++i) g_rank == 0 ? send_plain(bytes) : recv_plain(bytes);
  g_rank == 0 ? recv_plain(8) : send_plain(8);
}

double time_of(void (*run)(size_t, int), size_t bytes, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  run(bytes, times);
  return (MPI_Wtime() - begin) / times;
}

double median(double* values, int count) {
  std::sort(values, values + count);
  return values[count / 2];
}

struct Pair {
  double plain, wire;
};

Pair compare(void (*plain)(size_t, int), void (*wire)(size_t, int), size_t bytes, int times, int rounds) {
  static double by_plain[kMostRounds], by_wire[kMostRounds];
  for (int i = -kWarmUp; i < rounds; ++i) {
    const double first = time_of(plain, bytes, times), second = time_of(wire, bytes, times);
    if (i >= 0) by_plain[i] = first, by_wire[i] = second;
  }
  return {median(by_plain, rounds), median(by_wire, rounds)};
}

void join(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  static const WireUser user = {nullptr, place, deliver, nullptr, [](const char* line) {
                                  std::fprintf(stderr, "%s\n", line);
                                  std::_Exit(1);
                                }};
  g_kind = reinterpret_cast<const WireKind* (*)()>(dlsym(library, "marline_wire_kind"))();
  g_wire = g_kind->join(Job{}, &user);
}

void show(const char* what, const char* unit, double plain, double wire) {
  if (g_rank != 0) return;
  std::printf("%-24s plain %9.3f  wire %9.3f  %-5s ratio %.2f\n", what, plain, wire, unit, wire / plain);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::clamp(std::atoi(argv[2]), 1, kMostRounds) : 31;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  g_from = static_cast<char*>(std::calloc(1, kBytes));
  g_to = static_cast<char*>(std::calloc(1, kBytes));
  join(argv[1]);
  Pair pair = compare(to_and_fro_plain, to_and_fro_wire, 8, kMessages, rounds);
  show("8 bytes, one way", "us", pair.plain * 5e5, pair.wire * 5e5);
  pair = compare(to_and_fro_frame, to_and_fro_wire, 8, kMessages, rounds);
  show("8 bytes, 88 by MPI", "us", pair.plain * 5e5, pair.wire * 5e5);
  pair = compare(to_and_fro_plain, to_and_fro_wire, kBytes, kBulks, rounds);
  show("1 MiB to and fro", "MB/s", 2e-6 * kBytes / pair.plain, 2e-6 * kBytes / pair.wire);
  pair = compare(stream_plain, stream_wire, kBytes, kBulks, rounds);
  show("1 MiB stream", "MB/s", 1e-6 * kBytes / pair.plain, 1e-6 * kBytes / pair.wire);
  g_kind->leave(g_wire, true);
  MPI_Finalize();
  return 0;
}
