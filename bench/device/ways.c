/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between the program and its devices, by size (`--kib`, otherwise 1 KiB to 16 MiB) and by way: `to` device 0
 * and `from` it, from device 0 to another one of its node (`here`) and to one of another node (`there`), the same block
 * to all devices at a time (`one_to_many`), and a block from each device (`many_to_one`). Nodes are told by the
 * devices' uids; a way that there is not is left out. The time of a copy to a device ends when the device has answered
 * a read of its last word. After each round all bytes are compared.
 *
 * Figures, of a copy of 1 MiB: `to_1M`, the time, the median over the rounds; `to_1M_speed`, all bytes copied over that
 * time; `here_1M_ratio`, the time over that of `to`, or for `many_to_one` over that of `from`.
 */
#include "device.h"

enum { kRounds = 5, kMostDevices = 64, kName = 128 };
enum Way { kTo, kFrom, kHere, kThere, kOneToMany, kManyToOne, kWays };
static const char* const kWayName[kWays] = {"to", "from", "here", "there", "one_to_many", "many_to_one"};

static int devices, host, neighbour, stranger; /* devices of device 0's node and of another one; -1: none */
static char *source, *back[kMostDevices];
static char *block[kMostDevices], *second[kMostDevices]; /* on the devices */

static void copy(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  int fault = omp_target_memcpy(to, from, bytes, 0, 0, to_device, from_device);
  if (fault) bench_fail("ways: omp_target_memcpy from device %d to %d says %d", from_device, to_device, fault);
}

/* The device has got everything that was copied to it before. */
static void await_answer(int device, const char* at, size_t bytes) {
  long last;
  copy(&last, host, at + bytes - sizeof last, device, sizeof last);
}

static void copy_to(int device, size_t bytes) {
  copy(block[device], device, source, host, bytes);
  await_answer(device, block[device], bytes);
}

static void copy_on(int device, size_t bytes) {
  copy(second[device], device, block[0], 0, bytes);
  await_answer(device, second[device], bytes);
}

static void copy_all(enum Way way, size_t bytes) {
#pragma omp parallel
#pragma omp single
  for (int d = 0; d < devices; ++d) {
#pragma omp task
    {
      if (way == kOneToMany)
        copy_to(d, bytes);
      else
        copy(back[d], host, block[d], d, bytes);
    }
  }
}

static void go(enum Way way, size_t bytes) {
  if (way == kTo)
    copy_to(0, bytes);
  else if (way == kFrom)
    copy(back[0], host, block[0], 0, bytes);
  else if (way == kHere || way == kThere)
    copy_on(way == kHere ? neighbour : stranger, bytes);
  else
    copy_all(way, bytes);
}

static int is_there(enum Way way) { return way == kHere ? neighbour > 0 : way == kThere ? stranger > 0 : 1; }

/* What the way has brought; that of `to` and `one_to_many` is seen by the next one. */
static void check(enum Way way, size_t bytes) {
  int is_between = way == kHere || way == kThere;
  if (way == kTo || way == kOneToMany) return;
  if (is_between) {
    int device = way == kHere ? neighbour : stranger;
    copy(back[0], host, second[device], device, bytes);
  }
  for (int d = 0; d < (way == kManyToOne ? devices : 1); ++d) {
    if (memcmp(source, back[d], bytes) != 0)
      bench_fail("ways: other bytes came back by %s, device %d", kWayName[way], d);
    memset(back[d], 0, bytes);
  }
}

static void fill(size_t bytes, int round) {
  for (size_t i = 0; i < bytes; ++i) source[i] = (char)(i * 31 + i / 4096 + (size_t)round * 7);
}

static void say(enum Way way, size_t bytes, double time, double against) {
  char size[16], name[kBenchLine];
  int is_mib = bytes % (1 << 20) == 0, many = way == kOneToMany || way == kManyToOne ? devices : 1;
  snprintf(size, sizeof size, "%zu%s", bytes >> (is_mib ? 20 : 10), is_mib ? "M" : "K");
  snprintf(name, sizeof name, "%s_%s", kWayName[way], size);
  bench_say(name, time * 1e-3, "us");
  snprintf(name, sizeof name, "%s_%s_speed", kWayName[way], size);
  bench_say(name, (double)bytes * many / time, "GB/s");
  snprintf(name, sizeof name, "%s_%s_ratio", kWayName[way], size);
  if (way != kTo && way != kFrom) bench_say(name, time / against, "x");
}

static void measure(size_t bytes) {
  double times[kWays][kRounds], median[kWays];
  for (int round = -1; round < kRounds; ++round) { /* one to begin with: every page is touched */
    fill(bytes, round);
    for (enum Way way = kTo; way < kWays; ++way) {
      if (!is_there(way)) continue;
      double begin = bench_now();
      go(way, bytes);
      if (round >= 0) times[way][round] = bench_now() - begin;
      check(way, bytes);
    }
  }
  for (enum Way way = kTo; way < kWays; ++way) {
    if (!is_there(way)) continue;
    median[way] = bench_median(times[way], kRounds);
    say(way, bytes, median[way], median[way == kManyToOne ? kFrom : kTo]);
  }
}

/* The node's name in a device's uid, node-NAME-NUMBER; devices of other kinds count as being on one. */
static void read_node(int device, char name[kName]) {
  const char* (*uid_of)(int) = (const char* (*)(int))dlsym(RTLD_DEFAULT, "omp_get_uid_from_device");
  const char* uid = uid_of ? uid_of(device) : NULL;
  snprintf(name, kName, "%s", uid && !strncmp(uid, "node-", 5) ? uid : "");
  if (*name) *strrchr(name, '-') = '\0';
}

static void find_nodes(void) {
  char first[kName], other[kName];
  neighbour = stranger = -1;
  read_node(0, first);
  for (int d = devices - 1; d > 0; --d) {
    read_node(d, other);
    *(strcmp(first, other) ? &stranger : &neighbour) = d;
  }
}

static void* must(void* memory) {
  if (!memory) bench_fail("ways: not enough memory");
  return memory;
}

int main(int argc, char** argv) {
  size_t sizes[] = {1 << 10, 64 << 10, 1 << 20, 16 << 20}, count = sizeof sizes / sizeof *sizes;
  if (argc == 3 && !strcmp(argv[1], "--kib")) {
    sizes[0] = (size_t)device_number(argv[1], argv[2], 1 << 20) << 10;
    count = 1;
  } else if (argc != 1) {
    bench_fail("usage: %s [--kib KIB]", argv[0]);
  }
  device_begin();
  devices = omp_get_num_devices() < kMostDevices ? omp_get_num_devices() : kMostDevices;
  host = omp_get_initial_device();
  find_nodes();
  printf("# devices %d\n", devices);
  size_t most = sizes[count - 1];
  source = must(malloc(most));
  for (int d = 0; d < devices; ++d) {
    back[d] = must(malloc(most));
    block[d] = must(omp_target_alloc(most, d));
    second[d] = must(omp_target_alloc(most, d));
  }
  for (size_t i = 0; i < count; ++i) measure(sizes[i]);
  for (int d = 0; d < devices; ++d) {
    omp_target_free(second[d], d);
    omp_target_free(block[d], d);
    free(back[d]);
  }
  free(source);
  return 0;
}
