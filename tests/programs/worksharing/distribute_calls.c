/* SPDX-License-Identifier: Apache-2.0
 *
 * distribute parallel for by the entry points that do both at once, which Flang calls: the union of all threads' shares
 * is the loop, and one thread has its last iteration.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

enum { kStaticChunked = 33, kStatic = 34, kDynamic = 35, kGuided = 36, kMonotonic = 1 << 29 };
enum { kMost = 4000 };
static int hits[kMost], lasts;

static void begin(void) {
  memset(hits, 0, sizeof hits);
  lasts = 0;
}

static void visit(long long i) {
  CHECK_RANGE(i, 0, kMost - 1);
#pragma omp atomic
  hits[i]++;
}

static void add_last(int last) {
#pragma omp atomic
  lasts += last;
}

static void check_loop(long long lower, long long upper, long long increment) {
  long long from = increment > 0 ? lower : upper, to = increment > 0 ? upper : lower;
  int any = 0;
  for (int i = 0; i < kMost; i++) {
    int expected = i >= from && i <= to && (i - lower) % increment == 0;
    CHECK_EQ(hits[i], expected);
    any |= expected;
  }
  CHECK_EQ(lasts, any);
}

void __kmpc_for_static_fini(KmpIdent*, int32_t);

#define DEFINE_CALLS(T, S, suffix)                                                                                     \
  void __kmpc_dist_for_static_init_##suffix(KmpIdent*, int32_t, int32_t schedule, int32_t* last, T* lower, T* upper,   \
                                            T* upper_of_team, S* stride, S increment, S chunk);                        \
  void __kmpc_team_static_init_##suffix(KmpIdent*, int32_t, int32_t* last, T* lower, T* upper, S* stride, S increment, \
                                        S chunk);                                                                      \
  void __kmpc_dist_dispatch_init_##suffix(KmpIdent*, int32_t, int32_t schedule, int32_t* last, T lower, T upper,       \
                                          S increment, S chunk);                                                       \
  int32_t __kmpc_dispatch_next_##suffix(KmpIdent*, int32_t, int32_t* last, T* lower, T* upper, S* stride);             \
                                                                                                                       \
  static void visit_##suffix(T from, T to, T end, S increment) { /* [from, to], not beyond end */                      \
    if (increment > 0)                                                                                                 \
      for (T i = from; i <= (to < end ? to : end); i += (T)increment) visit((long long)i);                             \
    else                                                                                                               \
      for (T i = from; i >= (to > end ? to : end); i += (T)increment) visit((long long)i);                             \
  }                                                                                                                    \
                                                                                                                       \
  static void for_static_##suffix(int schedule, T lower, T upper, S increment, S chunk) {                              \
    begin();                                                                                                           \
    _Pragma("omp teams num_teams(2)") _Pragma("omp parallel") {                                                        \
      int32_t id = __kmpc_global_thread_num(&kmp_here), last = 0;                                                      \
      T from = lower, to = upper, end = upper;                                                                         \
      S stride = 0;                                                                                                    \
      __kmpc_dist_for_static_init_##suffix(&kmp_here, id, schedule, &last, &from, &to, &end, &stride, increment,       \
                                           chunk);                                                                     \
      if (schedule == kStatic)                                                                                         \
        visit_##suffix(from, to, end, increment);                                                                      \
      else                                                                                                             \
        for (; increment > 0 ? from <= end : from >= end; from += (T)stride, to += (T)stride)                          \
          visit_##suffix(from, to, end, increment);                                                                    \
      add_last(last);                                                                                                  \
      __kmpc_for_static_fini(&kmp_here, id);                                                                           \
    }                                                                                                                  \
    check_loop((long long)lower, (long long)upper, increment);                                                         \
  }                                                                                                                    \
                                                                                                                       \
  static void team_static_##suffix(T lower, T upper, S increment, S chunk) {                                           \
    begin();                                                                                                           \
    _Pragma("omp teams num_teams(2)") {                                                                                \
      int32_t id = __kmpc_global_thread_num(&kmp_here), last = 0;                                                      \
      T from = lower, to = upper;                                                                                      \
      S stride = 0;                                                                                                    \
      __kmpc_team_static_init_##suffix(&kmp_here, id, &last, &from, &to, &stride, increment, chunk);                   \
      CHECK(increment > 0 ? to <= upper : to >= upper);                                                                \
      for (; increment > 0 ? from <= upper : from >= upper; from += (T)stride, to += (T)stride)                        \
        visit_##suffix(from, to, upper, increment);                                                                    \
      add_last(last);                                                                                                  \
    }                                                                                                                  \
    check_loop((long long)lower, (long long)upper, increment);                                                         \
  }                                                                                                                    \
                                                                                                                       \
  static void dispatch_##suffix(int schedule, T lower, T upper, S increment, S chunk) {                                \
    begin();                                                                                                           \
    _Pragma("omp teams num_teams(2)") _Pragma("omp parallel") {                                                        \
      int32_t id = __kmpc_global_thread_num(&kmp_here), last_team = 0, last = 0;                                       \
      T from, to;                                                                                                      \
      S stride;                                                                                                        \
      __kmpc_dist_dispatch_init_##suffix(&kmp_here, id, schedule, &last_team, lower, upper, increment, chunk);         \
      while (__kmpc_dispatch_next_##suffix(&kmp_here, id, &last, &from, &to, &stride)) {                               \
        CHECK_EQ(stride, increment);                                                                                   \
        visit_##suffix(from, to, to, increment);                                                                       \
        add_last(last&& last_team);                                                                                    \
      }                                                                                                                \
    }                                                                                                                  \
    check_loop((long long)lower, (long long)upper, increment);                                                         \
  }                                                                                                                    \
                                                                                                                       \
  static void all_##suffix(void) {                                                                                     \
    static const struct {                                                                                              \
      T lower, upper;                                                                                                  \
      S increment;                                                                                                     \
    } loops[] = {{3, 3, 1}, {0, 99, 1}, {10, 3010, 7}, {3000, 2000, -1}, {3500, 2001, -3}};                            \
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {                                                      \
      T lower = loops[i].lower, upper = loops[i].upper;                                                                \
      S increment = loops[i].increment;                                                                                \
      for_static_##suffix(kStatic, lower, upper, increment, 0);                                                        \
      if (lower != upper) { /* with fewer iterations than teams, the stride may be 0 */                                \
        for_static_##suffix(kStaticChunked, lower, upper, increment, 1);                                               \
        for_static_##suffix(kStaticChunked, lower, upper, increment, 5);                                               \
      }                                                                                                                \
      team_static_##suffix(lower, upper, increment, 1);                                                                \
      team_static_##suffix(lower, upper, increment, 20);                                                               \
      dispatch_##suffix(kDynamic | kMonotonic, lower, upper, increment, 3);                                            \
      dispatch_##suffix(kGuided | kMonotonic, lower, upper, increment, 1);                                             \
      dispatch_##suffix(kStaticChunked, lower, upper, increment, 4);                                                   \
    }                                                                                                                  \
  }

DEFINE_CALLS(int32_t, int32_t, 4)
DEFINE_CALLS(uint32_t, int32_t, 4u)
DEFINE_CALLS(int64_t, int64_t, 8)
DEFINE_CALLS(uint64_t, int64_t, 8u)

int main(void) {
  all_4();
  all_4u();
  all_8();
  all_8u();
  return 0;
}
