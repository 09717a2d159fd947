// SPDX-License-Identifier: Apache-2.0
//
// The same bytes to all devices at about the same time, by FORM, and back; and how many bytes this process has sent by
// TCP meanwhile. Each value is checked, in a region on the device or here.
#include "../../programs/sent_by_tcp.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>

enum { kMost = 64 };
static int devices, host, round;
static size_t count;  // of unsigned
static unsigned *here, *blocks[kMost];

static unsigned value(size_t i) { return (unsigned)i * 2654435761u + (unsigned)round; }

// How many of these values are wrong on the device, which has them from `first` on.
static size_t wrong_at(int device, const unsigned* block, size_t first, size_t many) {
  size_t wrong = 0;
  int number = round;
#pragma omp target device(device) is_device_ptr(block) map(tofrom : wrong)
  for (size_t i = 0; i < many; ++i) wrong += block[i] != (unsigned)(first + i) * 2654435761u + (unsigned)number;
  return wrong;
}

static void copy_to(int device, size_t first, size_t many) {
  if (omp_target_memcpy(blocks[device], here, many * sizeof *here, 0, first * sizeof *here, device, host)) abort();
}

static size_t check_all(void) {
  size_t wrong = 0;
  for (int d = 0; d < devices; ++d) wrong += wrong_at(d, blocks[d], 0, count);
  return wrong;
}

static size_t by_memcpy(void) {
  for (int d = 0; d < devices; ++d) {
#pragma omp task
    copy_to(d, 0, count);
  }
#pragma omp taskwait
  return check_all();
}

static size_t by_async(void) {
#ifdef __clang__  // GCC's library lacks it
  for (int d = 0; d < devices; ++d)
    if (omp_target_memcpy_async(blocks[d], here, count * sizeof *here, 0, 0, d, host, 0, NULL)) abort();
#pragma omp taskwait
#endif
  return check_all();
}

static size_t check_mapped(void) {
  size_t wrong = 0;
  for (int d = 0; d < devices; ++d) {
    unsigned* mapped = here;
#pragma omp target data device(d) use_device_ptr(mapped)
    wrong += wrong_at(d, mapped, 0, count);
  }
  return wrong;
}

// Mapped to all, then updated.
static size_t by_maps(void) {
  unsigned* p = here;
  size_t n = count, wrong = 0;
  for (int d = 0; d < devices; ++d) {
#pragma omp target enter data nowait device(d) map(to : p[ : n])
  }
#pragma omp taskwait
  wrong += check_mapped();
  ++round;
  for (size_t i = 0; i < n; ++i) p[i] = value(i);
  for (int d = 0; d < devices; ++d) {
#pragma omp target update nowait device(d) to(p[ : n])
  }
#pragma omp taskwait
  wrong += check_mapped();
  for (int d = 0; d < devices; ++d) {
#pragma omp target exit data device(d) map(delete : p[ : n])
  }
  return wrong;
}

// From device 0 to all others.
static size_t by_devices(void) {
  copy_to(0, 0, count);
  for (int d = 1; d < devices; ++d) {
#pragma omp task
    if (omp_target_memcpy(blocks[d], blocks[0], count * sizeof *here, 0, 0, d, 0)) abort();
  }
#pragma omp taskwait
  return check_all();
}

// Ranges that overlap and are not the same: device d gets all but the first d values.
static size_t by_parts(void) {
  size_t wrong = 0;
  for (int d = 0; d < devices; ++d) {
#pragma omp task
    copy_to(d, (size_t)d, count - (size_t)d);
  }
#pragma omp taskwait
  for (int d = 0; d < devices; ++d) wrong += wrong_at(d, blocks[d], (size_t)d, count - (size_t)d);
  return wrong;
}

// The program changes what a copy has brought, and its source, as soon as that copy has ended.
static size_t by_changes(void) {
  size_t wrong = 0;
  for (int d = 0; d < devices; ++d) {
#pragma omp task shared(wrong)
    {
      unsigned* block = blocks[d];
      size_t n = count, own = 0;
      copy_to(d, 0, n);
      own = wrong_at(d, block, 0, n);
#pragma omp target device(d) is_device_ptr(block)
      memset(block, 255, n * sizeof *block);
#pragma omp atomic
      wrong += own;
    }
  }
#pragma omp taskwait
  memset(here, 255, count * sizeof *here);
  return wrong;
}

static void* copy_in_thread(void* device) {
  copy_to((int)(size_t)device, 0, count);
  return NULL;
}

// By threads that cannot suspend.
static size_t by_threads(void) {
  pthread_t threads[kMost];
  for (int d = 0; d < devices; ++d)
    if (pthread_create(&threads[d], NULL, copy_in_thread, (void*)(size_t)d)) abort();
  for (int d = 0; d < devices; ++d) pthread_join(threads[d], NULL);
  return check_all();
}

// Blocks of all devices to the program, side by side.
static size_t by_gathering(void) {
  unsigned* all = malloc(count * (size_t)devices * sizeof *all);
  size_t wrong = 0;
  for (int d = 0; d < devices; ++d) copy_to(d, 0, count);
  for (int d = 0; d < devices; ++d) {
#pragma omp task
    if (omp_target_memcpy(all, blocks[d], count * sizeof *all, (size_t)d * count * sizeof *all, 0, host, d)) abort();
  }
#pragma omp taskwait
  for (size_t i = 0; i < count * (size_t)devices; ++i) wrong += all[i] != value(i % count);
  free(all);
  return wrong;
}

static const struct Form {
  const char* name;
  size_t (*run)(void);
} kForms[] = {{"memcpy", by_memcpy}, {"async", by_async},     {"maps", by_maps},       {"devices", by_devices},
              {"parts", by_parts},   {"changes", by_changes}, {"threads", by_threads}, {"gathering", by_gathering}};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  count = ((size_t)atoi(argv[2]) << 10) / sizeof *here;
  devices = omp_get_num_devices();
  host = omp_get_initial_device();
  here = malloc(count * sizeof *here);
  for (int d = 0; d < devices; ++d) {
    blocks[d] = omp_target_alloc(count * sizeof *here, d);
    if (blocks[d] == NULL) return 3;
  }
  for (size_t f = 0; f < sizeof kForms / sizeof *kForms; ++f) {
    if (strcmp(kForms[f].name, argv[1]) != 0) continue;
    for (int again = 0; again < 3; ++again) {
      size_t wrong = 0;
      ++round;
      for (size_t i = 0; i < count; ++i) here[i] = value(i);
      unsigned long long before = sent_by_tcp();
#pragma omp parallel
#pragma omp single
      wrong = kForms[f].run();
      printf("%zu %llu\n", wrong, (sent_by_tcp() - before) >> 10);
    }
  }
  for (int d = 0; d < devices; ++d) omp_target_free(blocks[d], d);
  return 0;
}
