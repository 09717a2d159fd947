/* SPDX-License-Identifier: Apache-2.0
 *
 * Combined constructs as GCC before 4.9 made them: a call opens the region with the loop begun in all threads, the
 * program calls the primary thread's function itself, and GOMP_parallel_end closes the region.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include <omp.h>
#include <stdbool.h>

typedef void Function(void*);
void GOMP_parallel_loop_static_start(Function*, void*, unsigned threads, long, long, long, long chunk);
void GOMP_parallel_loop_dynamic_start(Function*, void*, unsigned threads, long, long, long, long chunk);
void GOMP_parallel_loop_guided_start(Function*, void*, unsigned threads, long, long, long, long chunk);
void GOMP_parallel_loop_runtime_start(Function*, void*, unsigned threads, long, long, long);
void GOMP_parallel_sections_start(Function*, void*, unsigned threads, unsigned count);
void GOMP_parallel_start(Function*, void*, unsigned threads);
void GOMP_parallel_end(void);
bool GOMP_loop_static_next(long*, long*);
bool GOMP_loop_dynamic_next(long*, long*);
bool GOMP_loop_guided_next(long*, long*);
bool GOMP_loop_runtime_next(long*, long*);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

enum { kMost = 1000 };
typedef struct {
  bool (*next)(long*, long*);
  long step;
  int hits[kMost], threads, level;
} Data;

static void count_thread(Data* data) {
#pragma omp atomic
  data->threads++;
  CHECK_EQ(omp_get_level(), data->level);
}

static void loop_body(void* argument) {
  Data* data = argument;
  count_thread(data);
  for (long from, to; data->next(&from, &to);)
    for (long i = from; data->step > 0 ? i < to : i > to; i += data->step) {
      CHECK_RANGE(i, 0, kMost - 1);
#pragma omp atomic
      data->hits[i]++;
    }
  GOMP_loop_end_nowait();
}

static void sections_body(void* argument) {
  Data* data = argument;
  count_thread(data);
  for (unsigned section; (section = GOMP_sections_next()) != 0;) {
    CHECK_RANGE(section, 1, kMost - 1);
#pragma omp atomic
    data->hits[section]++;
  }
  GOMP_sections_end_nowait();
}

static void plain_body(void* argument) { count_thread(argument); }

static void close_region(Data* data, Function* body, int threads, long start, long end, long step) {
  body(data); /* the primary thread's part, as GCC had it in line */
  GOMP_parallel_end();
  CHECK_EQ(data->threads, threads);
  CHECK_EQ(omp_get_level(), data->level - 1);
  for (long i = 0; i < kMost; i++) {
    int expected =
        step > 0 ? i >= start && i < end && (i - start) % step == 0 : i <= start && i > end && (start - i) % -step == 0;
    CHECK_EQ(data->hits[i], expected);
  }
}

static void all(unsigned clause, int threads, long start, long end, long step) {
  static Data data;
#define RUN(call, next_function, body)                                                \
  do {                                                                                \
    data = (Data){.next = next_function, .step = step, .level = omp_get_level() + 1}; \
    call;                                                                             \
    close_region(&data, body, threads, start, end, step);                             \
  } while (0)
  RUN(GOMP_parallel_loop_static_start(loop_body, &data, clause, start, end, step, 0), GOMP_loop_static_next, loop_body);
  RUN(GOMP_parallel_loop_static_start(loop_body, &data, clause, start, end, step, 4), GOMP_loop_static_next, loop_body);
  RUN(GOMP_parallel_loop_dynamic_start(loop_body, &data, clause, start, end, step, 3), GOMP_loop_dynamic_next,
      loop_body);
  RUN(GOMP_parallel_loop_guided_start(loop_body, &data, clause, start, end, step, 2), GOMP_loop_guided_next, loop_body);
  RUN(GOMP_parallel_loop_runtime_start(loop_body, &data, clause, start, end, step), GOMP_loop_runtime_next, loop_body);
#undef RUN
}

static void sections(unsigned clause, int threads, unsigned count) {
  static Data data;
  data = (Data){.level = omp_get_level() + 1};
  GOMP_parallel_sections_start(sections_body, &data, clause, count);
  close_region(&data, sections_body, threads, 1, (long)count + 1, 1);
}

static void plain(unsigned clause, int threads) {
  static Data data;
  data = (Data){.level = omp_get_level() + 1};
  GOMP_parallel_start(plain_body, &data, clause);
  close_region(&data, plain_body, threads, 0, 0, 1);
}

int main(void) {
  omp_set_dynamic(0);
  int threads = omp_get_max_threads();
  omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  for (int round = 0; round < 30; round++) {
    omp_set_schedule(kinds[round % 3], round % 4);
    all(0, threads, 0, 1000, 1);
    all(0, threads, 5, 6, 1);
    all(0, threads, 900, 17, -13);
    all(0, threads, 7, 7, 1); /* no iterations */
    all(1, 1, 0, 100, 9);
    all(3, 3, 0, 100, 9);
    sections(0, threads, 6);
    sections(1, 1, 4);
    plain(0, threads);
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  all(1, 1, 0, 50, 1); /* a region inside */
  return 0;
}
