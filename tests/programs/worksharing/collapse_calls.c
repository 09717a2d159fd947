/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapsed loops by LLVM's entry points for them: rectangular nests are numbered and turned back into variables; of
 * nests of other shapes each thread gets a run of iterations, and the runs together are the nest.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

enum { kLessEqual, kGreaterEqual, kNotEqual, kLess, kGreater };
enum { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kUint64, kInt64 };

typedef struct { /* bounds_info_t: from lower + lower1 * outer to upper + upper1 * outer */
  int32_t type, variable_type, comparison, outer;
  int64_t lower, lower1, upper, upper1, step;
  uint64_t trips;
} Loop;

uint64_t __kmpc_process_loop_nest_rectang(KmpIdent*, int32_t, Loop* nest, int32_t count);
void __kmpc_calc_original_ivs_rectang(KmpIdent*, uint64_t iteration, const Loop* nest, uint64_t* variables, int32_t);
int32_t __kmpc_for_collapsed_init(KmpIdent*, int32_t, Loop* nest, Loop* chunk, int32_t count, int32_t* last);

enum { kLevels = 3, kMost = 5000 };
typedef struct {
  int64_t v[kLevels];
} Point;
static Point points[kMost]; /* the nest's iterations, in order */
static int point_count, hits[kMost], lasts;

static int goes_on(const Loop* loop, int64_t value, int64_t upper) {
  switch (loop->comparison) {
    case kLessEqual: return value <= upper;
    case kGreaterEqual: return value >= upper;
    case kLess: return value < upper;
    case kGreater: return value > upper;
    default: return value != upper;
  }
}

static void enumerate(const Loop* nest, int count, int level, Point* at) {
  if (level == count) {
    CHECK(point_count < kMost);
    points[point_count++] = *at;
    return;
  }
  const Loop* loop = &nest[level];
  int64_t outer = at->v[loop->outer];
  int64_t upper = loop->upper + loop->upper1 * outer;
  for (int64_t i = loop->lower + loop->lower1 * outer; goes_on(loop, i, upper); i += loop->step) {
    at->v[level] = i;
    enumerate(nest, count, level + 1, at);
  }
}

static void list_points(const Loop* nest, int count) {
  Point at = {{0}};
  point_count = 0;
  enumerate(nest, count, 0, &at);
}

static void rectangular(const Loop* original, int count) {
  Loop nest[kLevels];
  uint64_t v[kLevels];
  memcpy(nest, original, sizeof(Loop) * (size_t)count);
  list_points(original, count);
  int32_t id = __kmpc_global_thread_num(&kmp_here);
  CHECK_EQ(__kmpc_process_loop_nest_rectang(&kmp_here, id, nest, count), point_count);
  for (int i = 0; i < count; i++) CHECK(nest[i].comparison == kLessEqual || nest[i].comparison == kGreaterEqual);
  for (int p = 0; p < point_count; p++) {
    __kmpc_calc_original_ivs_rectang(&kmp_here, (uint64_t)p, nest, v, count);
    for (int i = 0; i < count; i++) CHECK_EQ(v[i], points[p].v[i]);
  }
}

/* In the order of the iterations; a bound need not be an iteration itself. */
static int before(const Loop* nest, int count, const int64_t* a, const int64_t* b) {
  for (int i = 0; i < count; i++)
    if (a[i] != b[i]) return nest[i].step > 0 ? a[i] < b[i] : a[i] > b[i];
  return 0;
}

static void divided(const Loop* original, int count) {
  if (on_stock_runtime() && count == 2 && (original[0].step < 0 || original[1].step < 0))
    return; /* libomp 19 stops at an assertion */
  list_points(original, count);
  memset(hits, 0, sizeof hits);
  lasts = 0;
#pragma omp parallel
  {
    Loop nest[kLevels], chunk[kLevels];
    int32_t last = 7;
    memcpy(nest, original, sizeof(Loop) * (size_t)count);
    if (__kmpc_for_collapsed_init(&kmp_here, __kmpc_global_thread_num(&kmp_here), nest, chunk, count, &last)) {
      int64_t first[kLevels], end[kLevels];
      for (int i = 0; i < count; i++) {
        first[i] = chunk[i].lower;
        end[i] = chunk[i].upper;
        CHECK_EQ(chunk[i].lower1, 0);
        CHECK_EQ(chunk[i].upper1, 0);
      }
      for (int p = 0; p < point_count; p++) {
        if (before(original, count, points[p].v, first) || before(original, count, end, points[p].v)) continue;
#pragma omp atomic
        hits[p]++;
        if (p == point_count - 1 && !on_stock_runtime()) CHECK_EQ(last, 1); /* libomp 19 forgets it for a triangle */
      }
#pragma omp atomic
      lasts += last;
    } else {
      CHECK_EQ(last, 0);
    }
  }
  for (int p = 0; p < point_count; p++) CHECK_EQ(hits[p], 1);
  if (!on_stock_runtime()) CHECK_EQ(lasts, point_count > 0);
}

static const Loop rectangles[][kLevels] = {
    {{kInt32, kInt32, kLess, 0, 0, 0, 10, 0, 1}, {kInt32, kInt32, kLessEqual, 0, 3, 0, 9, 0, 2}},
    {{kInt64, kInt64, kGreater, 0, 20, 0, -7, 0, -4}, {kInt32, kInt16, kGreaterEqual, 0, 5, 0, -5, 0, -3}},
    {{kUint32, kUint8, kLess, 0, 250, 0, 256, 0, 1}, {kUint64, kUint64, kLess, 0, 7, 0, 20, 0, 5}},
    {{kInt32, kInt8, kNotEqual, 0, -3, 0, 4, 0, 1}, {kInt64, kInt64, kNotEqual, 0, 9, 0, 2, 0, -1}},
    {{kInt32, kInt32, kLess, 0, 0, 0, 5, 0, 1}, {kInt32, kInt32, kLess, 0, 4, 0, 4, 0, 1}}, /* empty */
    /* a parallelogram: each row as long as the others */
    {{kInt32, kInt32, kLess, 0, 0, 0, 8, 0, 1}, {kInt32, kInt32, kLess, 0, 1, 2, 6, 2, 1}},
};

static const Loop solid[kLevels] = {{kInt32, kInt32, kLess, 0, 0, 0, 4, 0, 1},
                                    {kInt64, kInt64, kGreater, 0, 6, 0, 0, 0, -2},
                                    {kUint32, kUint32, kLessEqual, 0, 1, 0, 7, 0, 3}};

static const Loop shapes[][kLevels] = {
    /* j < i, with an empty first row */
    {{kInt32, kInt32, kLess, 0, 0, 0, 30, 0, 1}, {kInt32, kInt32, kLess, 0, 0, 0, 0, 1, 1}},
    {{kInt64, kInt64, kLess, 0, 0, 0, 30, 0, 1}, {kInt64, kInt64, kLessEqual, 0, 0, 1, 29, 0, 1}},
    {{kInt32, kInt32, kGreater, 0, 25, 0, 0, 0, -2}, {kInt32, kInt32, kGreaterEqual, 0, 3, 2, 0, 1, -3}},
    {{kInt32, kInt32, kLess, 0, 0, 0, 6, 0, 1}, {kInt32, kInt32, kLess, 0, 100, 0, 90, 1, 1}},   /* empty */
    {{kInt32, kInt32, kLess, 0, 0, 0, 1, 0, 1}, {kInt32, kInt32, kLessEqual, 0, 5, 0, 5, 1, 1}}, /* one iteration */
};

static const Loop pyramid[kLevels] = {{kInt32, kInt32, kLess, 0, 0, 0, 12, 0, 1},
                                      {kInt32, kInt32, kLessEqual, 0, 0, 0, 0, 1, 1},
                                      {kInt32, kInt32, kLess, 1, 2, -1, 5, 1, 2}};

int main(void) {
  for (unsigned i = 0; i < sizeof rectangles / sizeof *rectangles; i++) {
    rectangular(rectangles[i], 2);
    divided(rectangles[i], 2);
  }
  rectangular(solid, 3);
  divided(solid, 3);
  divided(solid, 1);
  for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) divided(shapes[i], 2);
  divided(pyramid, 3);
  return 0;
}
