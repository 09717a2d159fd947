/* SPDX-License-Identifier: Apache-2.0
 *
 * Target tasks on the default device: one thread creates all of them, and the runtime finds the graph from their
 * dependences, as in omp_task.c. All cells lie on the device from the start to the end. A region maps the cells that it
 * reads and the cell that it writes, so a device of several nodes knows the data of a task. The stamps of tasks with
 * outputs that are not read come back to the host, one per task. Only these are checked there, because digests depend
 * on all inputs.
 *
 * A construct has a fixed number of map clauses, so there is one for each number of inputs; kMostInputs suffices for
 * the patterns without --radix, but all_to_all.
 */
#include <assert.h>
#include <stdlib.h>

#include "omp.h"
#include "stamp.h"

enum { kMostInputs = 3 };

/* The records of the run; set by the main thread when no task runs. Each record belongs to one task. */
static struct Stamp* records;

/* The values that a region needs besides its cells. */
struct Job {
  long t, i, iterations;
  uint32_t step; /* the step in its output's stamp */
  uint32_t columns[kMostInputs];
  enum KernelKind kind;
};

/* A region takes a job as plain numbers, by these names: Clang (14 to 22) does not copy a structure that is
 * firstprivate when a region with nowait is created, but passes its address. */
#define JOB_NUMBERS(job)                                                                                 \
  const long t = (job).t, i = (job).i, iterations = (job).iterations;                                    \
  const uint32_t step = (job).step, c0 = (job).columns[0], c1 = (job).columns[1], c2 = (job).columns[2]; \
  const enum KernelKind kind = (job).kind

#pragma omp declare target

/* Returns an input's digest. If the input is wrong, so are the sum of digests and all digests that depend on it. */
static inline uint64_t take(const char* cell, size_t bytes, uint32_t step, uint32_t column) {
  struct Stamp first, is;
  size_t at;
  return stamp_check(cell, bytes, step, column, &first, &is, &at) ? first.digest : mix(first.digest);
}

/* `out_bytes`: the size of a cell, or of a record. */
static inline void finish_task(long t, long i, uint32_t step, enum KernelKind kind, long iterations, uint64_t sum,
                               char* out, size_t out_bytes) {
  volatile double product = kernel_work(kind, iterations);
  (void)product;
  stamp_write(out, out_bytes, (struct Stamp){step, (uint32_t)i, stamp_digest(t, i, sum)});
}

#pragma omp end declare target

static void create_free(struct Job job, char* out, size_t out_bytes) {
  JOB_NUMBERS(job);
#pragma omp target nowait map(from : out[0 : out_bytes])
  finish_task(t, i, step, kind, iterations, 0, out, out_bytes);
}

static void create_0(struct Job job, char* out, size_t out_bytes) {
  JOB_NUMBERS(job);
#pragma omp target nowait depend(out : out[0 : out_bytes]) map(from : out[0 : out_bytes])
  finish_task(t, i, step, kind, iterations, 0, out, out_bytes);
}

static void create_1(struct Job job, const char* a, size_t bytes, char* out, size_t out_bytes) {
  JOB_NUMBERS(job);
#pragma omp target nowait depend(in : a[0 : bytes]) depend(out : out[0 : out_bytes]) map(to : a[0 : bytes]) \
    map(from : out[0 : out_bytes])
  finish_task(t, i, step, kind, iterations, take(a, bytes, step - 1, c0), out, out_bytes);
}

static void create_2(struct Job job, const char* a, const char* b, size_t bytes, char* out, size_t out_bytes) {
  JOB_NUMBERS(job);
#pragma omp target nowait depend(in : a[0 : bytes], b[0 : bytes]) depend(out : out[0 : out_bytes]) \
    map(to : a[0 : bytes], b[0 : bytes]) map(from : out[0 : out_bytes])
  {
    const uint64_t sum = take(a, bytes, step - 1, c0) + take(b, bytes, step - 1, c1);
    finish_task(t, i, step, kind, iterations, sum, out, out_bytes);
  }
}

static void create_3(struct Job job, const char* a, const char* b, const char* c, size_t bytes, char* out,
                     size_t out_bytes) {
  JOB_NUMBERS(job);
#pragma omp target nowait depend(in : a[0 : bytes], b[0 : bytes], c[0 : bytes]) depend(out : out[0 : out_bytes]) \
    map(to : a[0 : bytes], b[0 : bytes], c[0 : bytes]) map(from : out[0 : out_bytes])
  {
    const uint64_t sum = take(a, bytes, step - 1, c0) + take(b, bytes, step - 1, c1) + take(c, bytes, step - 1, c2);
    finish_task(t, i, step, kind, iterations, sum, out, out_bytes);
  }
}

/* The task writes `record` if its output is not read. */
static void create_task(const struct Bench* bench, long t, long i, struct Stamp* record) {
  long count;
  const int32_t* from = bench_inputs(bench, t, i, &count);
  const bool read = record == NULL;
  const size_t bytes = (size_t)bench->options.output_bytes, out_bytes = read ? bytes : sizeof *record;
  char* out = read ? bench_cell(bench, t, i) : (char*)record;
  struct Job job = {.t = t,
                    .i = i,
                    .step = bench_stamp_step(bench, t),
                    .kind = bench->options.kernel.kind,
                    .iterations = kernel_iterations(&bench->options.kernel, t, i)};
  const char* in[kMostInputs] = {NULL};
  for (long k = 0; k < count; ++k) {
    job.columns[k] = (uint32_t)from[k];
    in[k] = bench_cell(bench, t - 1, from[k]);
  }
  switch (count) {
    case 0: (read ? create_0 : create_free)(job, out, out_bytes); break;
    case 1: create_1(job, in[0], bytes, out, out_bytes); break;
    case 2: create_2(job, in[0], in[1], bytes, out, out_bytes); break;
    default:
      assert(count <= kMostInputs); /* check() has ensured it */
      create_3(job, in[0], in[1], in[2], bytes, out, out_bytes);
  }
}

static void execute(struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  struct Stamp* record = records;
#pragma omp parallel
#pragma omp single
  for (long t = 0; t < graph->steps; ++t)
    for (long i = 0; i < graph_width_at(graph, t); ++i)
      create_task(bench, t, i, bench_is_read(bench, t, i) ? NULL : record++);
}

/* A record counts if it is that of this run. */
static struct Tally unread(const struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  const struct Stamp* record = records;
  struct Tally tally = {0};
  for (long t = 0; t < graph->steps; ++t) {
    for (long i = 0; i < graph_width_at(graph, t); ++i) {
      if (bench_is_read(bench, t, i)) continue;
      tally.unread += record->step == bench_stamp_step(bench, t) && record->column == i;
      tally.unread_digests += record->digest;
      ++record;
    }
  }
  return tally;
}

/* Start and end ---------------------------------------------------------------------------------------------------- */

static long most_inputs(const struct Bench* bench) {
  const struct Graph* graph = &bench->options.graph;
  long most = 0;
  for (long phase = 0; phase < bench->plan.phases; ++phase) {
    for (long i = 0; i < graph_width_at(graph, phase); ++i) {
      long count;
      plan_inputs(&bench->plan, phase, i, &count);
      most = count > most ? count : most;
    }
  }
  return most;
}

static void require_device(void) {
  int on_host = 1;
  if (omp_get_num_devices() > 0) {
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
  }
  if (on_host) fail("there is no device for target tasks; `marline devices` says why");
}

static void check(const struct Bench* bench) {
  const long most = most_inputs(bench);
  if (most > kMostInputs)
    fail("--pattern %s: a target task can have %d inputs, not %ld", kPatternNames[bench->options.graph.pattern],
         kMostInputs, most);
  if (bench->options.kernel.kind == kMemory) fail("--kernel memory: target tasks have no scratch memory of a worker");
  require_device();
}

/* Each cell is mapped by itself. */
static void enter_cells(const struct Bench* bench) {
  const size_t bytes = (size_t)bench->options.output_bytes;
  for (long t = 0; t < bench->options.slots; ++t) {
    for (long i = 0; i < bench->options.graph.width; ++i) {
      char* cell = bench_cell(bench, t, i);
#pragma omp target enter data map(to : cell[0 : bytes])
    }
  }
}

static void start(struct Bench* bench) {
  const struct Tally all = bench_expected(bench);
  check(bench);
  records = allocate((all.unread + 1) * sizeof *records);
  enter_cells(bench);
  omp_print_runtime();
  bench->workers = bench->options.workers > 0 ? bench->options.workers : 1;
}

static void finish(struct Bench* bench) {
  const size_t bytes = (size_t)bench->options.output_bytes;
  for (long t = 0; t < bench->options.slots; ++t) {
    for (long i = 0; i < bench->options.graph.width; ++i) {
      char* cell = bench_cell(bench, t, i);
#pragma omp target exit data map(delete : cell[0 : bytes])
    }
  }
  free(records);
}

int main(int argc, char** argv) {
  const struct Driver driver = {"omp_target", start, execute, finish, NULL, unread};
  return taskbench_main(argc, argv, &driver);
}
