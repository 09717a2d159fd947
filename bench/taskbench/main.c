/* SPDX-License-Identifier: Apache-2.0
 *
 * The program around every driver: options, warm-up, the measured run, its check, the figures. Runs on the main thread
 * of each process. The invariant: figures are printed only after every run, the warm-up included, has been compared
 * with the reference; a wrong graph prints one line and ends with status 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

void print_library(const char* key, const void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) fail("no shared object holds the %s: is it linked statically?", key);
  printf("# %s %s\n", key, info.dli_fname);
}

static bool speaks(const struct Driver* driver) { return !driver->ranks || driver->ranks->rank == 0; }

static double timed_run(struct Bench* bench, const struct Driver* driver) {
  if (driver->ranks) driver->ranks->barrier();
  int64_t start = monotonic_ns();
  driver->execute(bench);
  double seconds = 1e-9 * (double)(monotonic_ns() - start);
  return driver->ranks ? driver->ranks->largest(seconds) : seconds;
}

/* The tally of all tasks, or of the tasks that the driver can see. */
static struct Tally visible_part(const struct Driver* driver, struct Tally tally) {
  if (driver->unread) {
    tally.tasks = tally.unread;
    tally.digests = tally.unread_digests;
  }
  return tally;
}

static bool is_right(const struct Bench* bench, const struct Driver* driver, const struct Tally* all) {
  const struct Tally should = visible_part(driver, *all), *expected = &should;
  struct Tally done = driver->unread ? visible_part(driver, driver->unread(bench)) : bench_take_tally();
  if (driver->ranks) {
    done.tasks = driver->ranks->sum(done.tasks);
    done.digests = driver->ranks->sum(done.digests);
  }
  if (done.tasks == expected->tasks && done.digests == expected->digests) return true;
  if (speaks(driver))
    fprintf(stderr,
            "taskbench: run %ld: %llu tasks with checksum %016llx, expected %llu with %016llx: the driver's graph is "
            "wrong\n",
            bench->run, (unsigned long long)done.tasks, (unsigned long long)done.digests,
            (unsigned long long)expected->tasks, (unsigned long long)expected->digests);
  return false;
}

static void print_rate_of_kernel(enum KernelKind kind, double iterations_per_second) {
  if (kind == kCompute || kind == kLoadImbalance)
    printf("flop_rate %.9g flop/s\n", kFlopsPerIteration * iterations_per_second);
  if (kind == kMemory) printf("byte_rate %.9g B/s\n", kBytesPerIteration * iterations_per_second);
}

static void print_figures(const struct Bench* bench, const struct Tally* expected, double elapsed) {
  double tasks = (double)expected->tasks;
  enum KernelKind kind = bench->options.kernel.kind;
  double units = kind == kEmpty ? tasks : (double)expected->iterations;
  printf("elapsed_s %.9g s\n", elapsed);
  printf("tasks %.0f tasks\n", tasks);
  printf("dependences %.0f dependences\n", (double)expected->dependences);
  printf("granularity_us %.9g us\n", 1e6 * elapsed * (double)bench->workers / tasks);
  printf("rate %.9g units/s\n", units / elapsed);
  print_rate_of_kernel(kind, units / elapsed);
}

static bool has_workers(const struct Bench* bench, const struct Driver* driver) {
  long asked = bench->options.workers;
  if (!asked || asked == bench->workers) return true;
  if (speaks(driver))
    fprintf(stderr, "taskbench: --workers %ld, but %s runs on %ld: --help says what decides\n", asked, driver->name,
            bench->workers);
  return false;
}

static int measure(struct Bench* bench, const struct Driver* driver) {
  struct Tally expected = bench_expected(bench);
  double elapsed = 0;
  for (bench->run = 0; bench->run <= bench->options.warmup; ++bench->run) {
    elapsed = timed_run(bench, driver);
    if (!is_right(bench, driver, &expected)) return 1;
  }
  if (speaks(driver)) print_figures(bench, &expected, elapsed);
  return 0;
}

int taskbench_main(int argc, char** argv, const struct Driver* driver) {
  static struct Bench bench;
  char message[kMessage];
  enum Parsed parsed = options_parse(argc, argv, &bench.options, message);
  if (parsed == kBadOption && speaks(driver)) fprintf(stderr, "taskbench: %s\n", message);
  if (parsed == kHelp && speaks(driver)) options_help(argv[0]);
  if (parsed != kParsed) return parsed == kBadOption;
  bench_prepare(&bench);
  if (speaks(driver)) printf("# driver %s\n", driver->name);
  driver->start(&bench);
  if (speaks(driver)) {
    printf("# workers %ld\n", bench.workers);
    options_print(&bench.options);
  }
  int status = has_workers(&bench, driver) ? measure(&bench, driver) : 1;
  driver->finish(&bench);
  bench_free(&bench);
  return status;
}
