// SPDX-License-Identifier: Apache-2.0
//
// The wire `local` between two processes: half a round trip of a frame with one word, and the bandwidth of bulks of 1
// MiB, by shared memory and by TCP; beside them what the system needs at least. `awake`: the receiver looks; `asleep`:
// it has slept for a millisecond before each round trip, of which the figure is the whole. Each figure is the best of
// several samples, printed as `FIGURE VALUE UNIT`.
#include "wire/local/local.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/futex.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {
namespace {

constexpr int kSamples = 51, kTrips = 200, kSleepyTrips = 20, kBulks = 64, kSubmission = 8;
constexpr uint64_t kBulk = 1 << 20;

// What a process of the benchmark has received.
struct Side {
  Wire* wire = nullptr;
  WireUser user;
  uint64_t frames = 0;
  int under_way = 0;
  char* place = nullptr;
};
Side g_side;

template <class Condition>
void run_until(Condition condition) {
  while (!condition()) {
    if (kLocalWire.poll(g_side.wire) == 0) kLocalWire.wait(g_side.wire, 100);
  }
}

void join(int number, const char* const* nodes, int parent) {
  char address[64];
  std::snprintf(address, sizeof address, "unix:@marline-bench-%d", parent);
  g_side.user = {nullptr, [](void*, int, const Frame&, const uint64_t*) -> void* { return g_side.place; },
                 [](void*, int, const Frame&, const uint64_t*) { ++g_side.frames; },
                 [](void*, int peer, const char* why) {
                   std::fprintf(stderr, "process %d %s\n", peer, why);
                   _exit(1);
                 },
                 [](const char* line) {
                   std::fprintf(stderr, "%s\n", line);
                   _exit(1);
                 }};
  g_side.place = static_cast<char*>(std::malloc(kBulk));
  std::memset(g_side.place, 1, kBulk);
  Job job = {number, 2, {1, static_cast<uint64_t>(parent)}, address, nodes};
  g_side.wire = kLocalWire.join(job, &g_side.user);
}

void send_word() {
  uint64_t word = 1;
  Frame frame = {};
  frame.words = 1;
  kLocalWire.send(g_side.wire, kLocalWire.number(g_side.wire) ^ 1, frame, &word, nullptr, nullptr);
}

// Nanoseconds of a round trip, of which the first process sees the end.
double round_trips(bool first, int count, unsigned pause) {
  uint64_t spent = 0;
  for (int i = 0; i < count; ++i) {
    if (first && pause != 0) usleep(pause);
    uint64_t begin = now(), wanted = g_side.frames + 1;
    if (first) send_word();
    run_until([wanted] { return g_side.frames >= wanted; });
    if (!first) send_word();
    spent += now() - begin;
  }
  return static_cast<double>(spent) / count;
}

// Gigabytes per second.
double stream(bool first, const char* bulk) {
  uint64_t wanted = g_side.frames + 1, begin = now();
  Outgoing outgoing = {[](Outgoing*) { --g_side.under_way; }};
  Frame frame = {};
  frame.bulk = kBulk;
  for (int i = 0; first && i < kBulks; ++i) {
    run_until([] { return g_side.under_way < kSubmission; });
    if (!kLocalWire.send(g_side.wire, 1, frame, nullptr, bulk, &outgoing)) ++g_side.under_way;
  }
  if (!first) {
    run_until([wanted] { return g_side.frames >= wanted + kBulks - 1; });
    send_word();
  } else {
    run_until([wanted] { return g_side.under_way == 0 && g_side.frames >= wanted; });
  }
  return static_cast<double>(kBulk) * kBulks / static_cast<double>(now() - begin);
}

template <class Sample>
double best(bool least, Sample sample) {
  double found = sample();
  for (int i = 1; i < kSamples; ++i) {
    double value = sample();
    if ((value < found) == least) found = value;
  }
  return found;
}

void measure_wire(const char* name, const char* const* nodes) {
  int parent = getpid();
  pid_t child = fork();
  bool first = child != 0;
  join(first ? 0 : 1, nodes, parent);
  char* bulk = static_cast<char*>(std::malloc(kBulk));
  std::memset(bulk, 2, kBulk);
  double awake = best(true, [first] { return round_trips(first, kTrips, 0); });
  double asleep = best(true, [first] { return round_trips(first, kSleepyTrips, 1000); });
  double rate = best(false, [first, bulk] { return stream(first, bulk); });
  kLocalWire.leave(g_side.wire, true);
  g_side = {};
  if (!first) _exit(0);
  waitpid(child, nullptr, 0);
  std::printf("%s_half_round_trip_awake %.0f ns\n%s_round_trip_asleep %.0f ns\n%s_bandwidth %.2f GB/s\n", name,
              awake / 2, name, asleep, name, rate);
}

struct Word {
  alignas(64) std::atomic<uint32_t> value;
};

void hand_by_futex(Word* words, int to, uint32_t value) {
  words[to].value.store(value);
  syscall(SYS_futex, &words[to].value, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void take_by_futex(Word* words, int at, uint32_t value) {
  for (uint32_t seen; (seen = words[at].value.load()) != value;) {
    syscall(SYS_futex, &words[at].value, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

void hand_by_memory(Word* words, int to, uint32_t value) { words[to].value.store(value, std::memory_order_release); }

void take_by_memory(Word* words, int at, uint32_t value) {
  while (words[at].value.load(std::memory_order_acquire) != value) {
  }
}

using Hand = void (*)(Word*, int, uint32_t);

void measure_words(const char* name, Hand hand, Hand take, unsigned pause, int count) {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* words = static_cast<Word*>(memory);
  pid_t child = fork();
  if (child == 0) {
    for (uint32_t i = 1; i <= static_cast<uint32_t>(count * kSamples); ++i) take(words, 1, i), hand(words, 0, i);
    _exit(0);
  }
  uint32_t at = 0;
  double trip = best(true, [&] {
    uint64_t spent = 0;
    for (int i = 0; i < count; ++i) {
      if (pause != 0) usleep(pause);
      uint64_t begin = now();
      hand(words, 1, ++at);
      take(words, 0, at);
      spent += now() - begin;
    }
    return static_cast<double>(spent) / count;
  });
  waitpid(child, nullptr, 0);
  munmap(memory, 4096);
  std::printf("%s %.0f ns\n", name, pause != 0 ? trip : trip / 2);
}

// Makes a TCP connection on loopback; the readers of both ends sleep. Returns false if it fails.
bool connect_sockets(int (&ends)[2]) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, generic, length) != 0 || listen(listener, 1) != 0) return false;
  if (getsockname(listener, generic, &length) != 0) return false;
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(ends[0], generic, length) != 0) return false;
  ends[1] = accept(listener, nullptr, nullptr);
  close(listener);
  for (int end : ends) setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return ends[1] >= 0;
}

void measure_sockets() {
  int ends[2];
  if (!connect_sockets(ends)) return;
  auto take = [&ends](int at) {
    char frame[sizeof(Frame)];
    if (recv(ends[at], frame, sizeof frame, MSG_WAITALL) != static_cast<ssize_t>(sizeof frame)) std::abort();
  };
  auto hand = [&ends](int at) {
    char frame[sizeof(Frame)] = {};
    if (write(ends[at], frame, sizeof frame) != static_cast<ssize_t>(sizeof frame)) std::abort();
  };
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kSleepyTrips * kSamples; ++i) take(1), hand(1);
    _exit(0);
  }
  double trip = best(true, [&] {
    uint64_t spent = 0;
    for (int i = 0; i < kSleepyTrips; ++i) {
      usleep(1000);
      uint64_t begin = now();
      hand(0);
      take(0);
      spent += now() - begin;
    }
    return static_cast<double>(spent) / kSleepyTrips;
  });
  waitpid(child, nullptr, 0);
  for (int end : ends) close(end);
  std::printf("sockets_round_trip_asleep %.0f ns\n", trip);
}

void measure_pipe() {
  int there[2], back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return;
  char word[8] = {};
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTrips * kSamples; ++i) {
      if (read(there[0], word, 8) != 8 || write(back[1], word, 8) != 8) _exit(1);
    }
    _exit(0);
  }
  double trip = best(true, [&] {
    uint64_t begin = now();
    for (int i = 0; i < kTrips; ++i) {
      if (write(there[1], word, 8) != 8 || read(back[0], word, 8) != 8) std::abort();
    }
    return static_cast<double>(now() - begin) / kTrips;
  });
  waitpid(child, nullptr, 0);
  std::printf("pipe_half_round_trip %.0f ns\n", trip / 2);
}

}  // namespace
}  // namespace marline::offload::wire

int main() {
  using namespace marline::offload;
  using namespace marline::offload::wire;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const char* const same[] = {"a", "a", nullptr};
  const char* const different[] = {"a", "b", nullptr};
  measure_words("memory_half_round_trip_awake", hand_by_memory, take_by_memory, 0, kTrips);
  measure_words("futex_half_round_trip", hand_by_futex, take_by_futex, 0, kTrips);
  measure_words("futex_round_trip_asleep", hand_by_futex, take_by_futex, 1000, kSleepyTrips);
  measure_pipe();
  measure_sockets();
  measure_wire("shared_memory", same);
  measure_wire("tcp", different);
  return 0;
}
