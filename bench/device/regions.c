/* SPDX-License-Identifier: Apache-2.0
 *
 * Many constructs at a time: one thread creates N deferred ones and waits for all.
 * `regions N`: a target region that adds one to a number in the device's memory, so that the regions can be counted; it
 * maps nothing. `chains N`: one that adds to a mapped number, in 64 chains, each ordered after a region of 20 ms: on a
 * device that takes regions early, all are under way at a time. `behind N`: the same on a device of another process.
 * There each thread of the device first runs a region that waits until all are created, so that all are under way at a
 * time. `updates N`: a `target update` of one number. A device that is this processor runs a region when a thread comes
 * to it. On emulated GPUs with copies that take longer than the creation of all updates (MARLINE_EMULATOR_LATENCY), all
 * updates are under way at a time; regions are not, as a GPU runs few kernels at a time.
 *
 * Figures: `each`, wall time of one; `cpu`, the program's CPU time; `create`, the thread's time to create one, which
 * grows with N if creation or polling gets dearer with what is under way; `memory`, the memory of the host that the
 * first N need beyond what the program had, divided by N; `in_flight`, the most operations under way at a time, where
 * that is known.
 */
#include "device.h"

enum { kSamples = 3, kMost = 1000000 };
static long *counted, *gate; /* in the device's memory */
static long expected, most;
static double* numbers; /* mapped, one for each update */
static double created;  /* when the last construct had been created */
static long in_flight;  /* of regions that wait for others */
static double resident; /* the program's memory when all were under way, where that is known */

static void create_regions(long regions) {
  long* count = counted;
#pragma omp parallel
#pragma omp single
  {
    for (long i = 0; i < regions; ++i) {
#pragma omp target nowait is_device_ptr(count)
      {
#pragma omp atomic
        *count += 1;
      }
    }
    created = bench_now();
#pragma omp taskwait
  }
  expected += regions;
}

static long value_of(const long* word) {
  long value = -1;
  omp_target_memcpy(&value, word, sizeof value, 0, 0, omp_get_initial_device(), omp_get_default_device());
  return value;
}

static void set(long* word, long value) {
  omp_target_memcpy(word, &value, sizeof value, 0, 0, omp_get_default_device(), omp_get_initial_device());
}

/* Returns when each thread of the device waits at the gate. */
static void close_gate(void) {
  long* word = gate;
  int threads = omp_get_num_threads();
  set(gate, 0);
  for (int i = 0; i < threads; ++i) {
#pragma omp target nowait is_device_ptr(word)
    {
#pragma omp atomic
      ++*word;
      for (long at_gate = 0; at_gate >= 0;) {
#pragma omp atomic read
        at_gate = *word;
      }
    }
  }
  while (value_of(gate) < threads) {
#pragma omp taskyield
  }
}

static void create_behind(long regions) {
  long* count = counted;
#pragma omp parallel
#pragma omp single
  {
    close_gate();
    for (long i = 0; i < regions; ++i) {
#pragma omp target nowait is_device_ptr(count)
      {
#pragma omp atomic
        *count += 1;
      }
    }
    created = bench_now();
    in_flight = regions - (value_of(counted) - expected);
    set(gate, -1);
#pragma omp taskwait
  }
  expected += regions;
}

enum { kChains = 64, kApart = 8 };
static const double kGate = 0.02;
static long cells[kChains * kApart], expected_of_chains;

static void create_chains(long regions) {
  long add = 1;
#pragma omp parallel
#pragma omp single
  {
    for (int chain = 0; chain < kChains; ++chain) {
      long* cell = &cells[chain * kApart];
#pragma omp target nowait map(tofrom : cell[0 : 1]) depend(inout : cell[0])
      for (double begin = omp_get_wtime(); omp_get_wtime() < begin + kGate;) {
      }
    }
    for (long i = 0; i < regions; ++i) {
      long* cell = &cells[i % kChains * kApart];
#pragma omp target nowait map(tofrom : cell[0 : 1]) depend(inout : cell[0]) firstprivate(add)
      cell[0] += add;
    }
    created = bench_now();
    resident = device_memory("VmRSS:");
#pragma omp taskwait
  }
  expected_of_chains += regions;
}

static void create_updates(long updates) {
#pragma omp parallel
#pragma omp single
  {
    for (long i = 0; i < updates; ++i) {
#pragma omp target update to(numbers[i : 1]) nowait
    }
    created = bench_now();
#pragma omp taskwait
  }
}

static void check_regions(long regions) {
  (void)regions; /* all that there ever were */
  long found = value_of(counted);
  if (found != expected) bench_fail("regions: %ld regions ran, not %ld", found, expected);
}

static void check_chains(long regions) {
  (void)regions;
  long found = 0;
#pragma omp target update from(cells)
  for (int chain = 0; chain < kChains; ++chain) found += cells[chain * kApart];
  if (found != expected_of_chains) bench_fail("regions: %ld regions ran, not %ld", found, expected_of_chains);
}

/* The device has the host's numbers; then the host's change, for the next time. */
static void check_updates(long updates) {
  long wrong = 0;
  double first = numbers[0];
#pragma omp target map(tofrom : wrong)
  for (long i = 0; i < updates; ++i) wrong += numbers[i] != first + (double)i;
  if (wrong) bench_fail("regions: %ld numbers of %ld were not updated", wrong, updates);
  for (long i = 0; i < most; ++i) numbers[i] += 1;
}

static const struct Kind {
  const char* name;
  void (*create)(long);
  void (*check)(long);
} kKinds[] = {{"regions", create_regions, check_regions},
              {"behind", create_behind, check_regions},
              {"chains", create_chains, check_chains},
              {"updates", create_updates, check_updates}};

/* From the program's memory now to the most that it has while N constructs are created and done, or to what it has when
 * all are under way. */
static double memory_of(const struct Kind* kind, long count) {
  double before = device_memory("VmRSS:");
  FILE* reset = fopen("/proc/self/clear_refs", "w");
  if (!reset || fputs("5", reset) < 0 || fclose(reset)) bench_fail("/proc/self/clear_refs cannot be written");
  kind->create(count);
  double most = device_memory("VmHWM:");
  kind->check(count);
  return ((resident != 0 ? resident : most) - before) / (double)count;
}

static void measure(const struct Kind* kind, long count) {
  double wall[kSamples], cpu[kSamples], create[kSamples];
  double memory = memory_of(kind, count);
  for (int s = 0; s < kSamples; ++s) {
    double begin = bench_now(), begin_cpu = device_cpu_now();
    kind->create(count);
    wall[s] = (bench_now() - begin) / (double)count;
    create[s] = (created - begin) / (double)count;
    cpu[s] = (device_cpu_now() - begin_cpu) / (double)count;
    kind->check(count);
  }
  bench_say("each", bench_median(wall, kSamples), "ns");
  bench_say("cpu", bench_median(cpu, kSamples), "ns");
  bench_say("create", bench_median(create, kSamples), "ns");
  bench_say("memory", memory, "B");
  long most_operations = in_flight ? in_flight : device_count(kMostOperations);
  if (most_operations) bench_say("in_flight", (double)most_operations, "operations");
}

static void begin(const struct Kind* kind) {
  int device = omp_get_default_device();
  device_begin();
  counted = omp_target_alloc(sizeof *counted, device);
  gate = omp_target_alloc(sizeof *gate, device);
  numbers = malloc((size_t)most * sizeof *numbers);
  if (!counted || !gate || !numbers) bench_fail("regions: not enough memory");
  set(counted, 0);
  for (long i = 0; i < most; ++i) numbers[i] = (double)i;
#pragma omp target enter data map(to : numbers[0 : most], cells)
  kind->create(1); /* the team; the device looks for the regions */
}

int main(int argc, char** argv) {
  const struct Kind* kind = NULL;
  for (size_t i = 0; argc == 3 && i < sizeof kKinds / sizeof *kKinds; ++i) {
    if (!strcmp(argv[1], kKinds[i].name)) kind = &kKinds[i];
  }
  if (!kind) bench_fail("usage: %s regions|behind|chains|updates N", argv[0]);
  most = device_number(argv[1], argv[2], kMost);
  begin(kind);
  measure(kind, most);
#pragma omp target exit data map(release : numbers[0 : most], cells)
  omp_target_free(counted, omp_get_default_device());
  omp_target_free(gate, omp_get_default_device());
  free(numbers);
  return 0;
}
