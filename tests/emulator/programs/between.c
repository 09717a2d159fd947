/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between all pairs of devices, from a device to itself as well: one after the other, and copies to different
 * devices at the same time. Sizes are of one piece and of several, with a rest; addresses lie within a block. Says how
 * many KiB this process has sent by TCP while data went between devices alone, and when one block went to all of them,
 * and how large that was.
 *
 *     between
 */
#include "emulated.h"

#include "../../programs/sent_by_tcp.h"

enum { kMost = 16, kSizes = 4, kOffset = 24, kRest = 1000 };

static const size_t sizes[kSizes] = {8, 100 << 10, (4 << 20) + 8, (21 << 20) + 16};
static char *in, *out[kMost], *memory[kMost];
static size_t room;
static int count, host;

/* What the byte at `i` of a device's block is at first. */
static char value(int device, size_t i) { return (char)(i * 7 + i / 251 + (size_t)device * 31); }

static void fill(int device, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) in[i] = value(device, i);
  CHECK_EQ(omp_target_memcpy(memory[device], in, bytes, 0, 0, device, host), 0);
}

/* Checks that the first `bytes` bytes of device `from` lie after the first kOffset bytes of device `to`, and that the
 * bytes around them are unchanged. */
static void check(int to, int from, size_t bytes) {
  size_t wrong = 0, all = kOffset + bytes + kRest;
  CHECK_EQ(omp_target_memcpy(out[to], memory[to], all, 0, 0, host, to), 0);
  for (size_t i = 0; i < all; i++)
    wrong += out[to][i] != (i >= kOffset && i < kOffset + bytes ? value(from, i - kOffset) : value(to, i));
  CHECK_EQ(wrong, 0);
}

static void copy(int to, int from, size_t bytes) {
  CHECK_EQ(omp_target_memcpy(memory[to], memory[from], bytes, kOffset, 0, to, from), 0);
}

int main(void) {
  host = omp_get_initial_device();
  count = omp_get_num_devices();
  CHECK_RANGE(count, 2, kMost);
  room = kOffset + sizes[kSizes - 1] + kRest;
  in = malloc(room);
  for (int device = 0; device < count; device++) {
    CHECK((memory[device] = omp_target_alloc(room, device)) != NULL);
    CHECK((out[device] = malloc(room)) != NULL);
    fill(device, room);
  }
#pragma omp target device(count - 1) /* a GPU, for which there is code */
  {
  }
  for (int s = 0; s < kSizes - 1; s++)
    for (int to = 0; to < count; to++)
      for (int from = 0; from < count; from++) {
        if (to == from) continue;
        copy(to, from, sizes[s]);
        check(to, from, sizes[s]);
        fill(to, kOffset + sizes[s]);
      }
  /* Half of the devices send to the other half. */
  unsigned long long before = sent_by_tcp();
#pragma omp parallel
#pragma omp single
  for (int to = 1; to < count; to += 2)
#pragma omp task firstprivate(to)
    copy(to, to - 1, sizes[kSizes - 1]);
  printf("%llu\n", (sent_by_tcp() - before) >> 10);
  for (int to = 1; to < count; to += 2) check(to, to - 1, sizes[kSizes - 1]);
  /* The same block to all devices, by one thread: of two that begin copies at once, each may begin a way of its own. */
  size_t bytes = sizes[kSizes - 1];
  for (size_t i = 0; i < room; i++) in[i] = value(kMost, i);
  before = sent_by_tcp();
#pragma omp parallel num_threads(1)
#pragma omp single
  for (int to = 0; to < count; to++)
#pragma omp task firstprivate(to)
    CHECK_EQ(omp_target_memcpy(memory[to], in, bytes, kOffset, 0, to, host), 0);
  printf("%llu %zu\n", (sent_by_tcp() - before) >> 10, bytes >> 10);
  for (int to = 0; to < count; to++) {
    CHECK_EQ(omp_target_memcpy(out[to], memory[to], bytes, 0, kOffset, host, to), 0);
    CHECK_EQ(memcmp(out[to], in, bytes), 0);
  }
  /* Within a device. */
  for (int device = 0; device < count; device++) {
    fill(device, room);
    size_t half = room / 2;
    CHECK_EQ(omp_target_memcpy(memory[device], memory[device], half, half, 0, device, device), 0);
    CHECK_EQ(omp_target_memcpy(out[device], memory[device], half, 0, half, host, device), 0);
    for (size_t i = 0; i < half; i += 97) CHECK_EQ(out[device][i], value(device, i));
    omp_target_free(memory[device], device);
  }
  return 0;
}
