/* SPDX-License-Identifier: Apache-2.0
 *
 * distribute on the host, with and without a schedule of its own, alone and as part of a composite construct: each
 * iteration is executed once, whatever number of teams there are; lastprivate and reductions.
 *
 * Covers: distribute(dist_schedule, collapse, lastprivate), teams distribute, distribute parallel for,
 *  teams distribute parallel for, teams(num_teams)
 */
#include "../check.h"
#include <omp.h>

enum { kMost = 1000 };
static int hits[kMost];

static void forget(void) { memset(hits, 0, sizeof hits); }

static void check_range(int from, int to) { /* [from, to) once each, nothing else */
  for (int i = 0; i < kMost; i++) CHECK_EQ(hits[i], i >= from && i < to);
}

#define PRAGMA(text) _Pragma(#text)

/* The directive's loop over [0, n), and downwards in steps of 3. */
#define DEFINE_LOOPS(name, directive)      \
  static void name(int n) {                \
    int last = -1;                         \
    long sum = 0;                          \
    forget();                              \
    PRAGMA(directive lastprivate(last))    \
    for (int i = 0; i < n; i++) {          \
      PRAGMA(omp atomic)                   \
      hits[i]++;                           \
      last = i;                            \
    }                                      \
    check_range(0, n);                     \
    if (n > 0) CHECK_EQ(last, n - 1);      \
    PRAGMA(directive)                      \
    for (long i = 3L * n; i > 0; i -= 3) { \
      PRAGMA(omp atomic)                   \
      sum += i;                            \
    }                                      \
    CHECK_EQ(sum, 3L * n * (n + 1) / 2);   \
  }

DEFINE_LOOPS(plain, omp teams distribute num_teams(3))
DEFINE_LOOPS(plain_chunked, omp teams distribute num_teams(3) dist_schedule(static, 7))
DEFINE_LOOPS(composite, omp teams distribute parallel for num_teams(3))
DEFINE_LOOPS(composite_static, omp teams distribute parallel for num_teams(3) schedule(static, 2))
DEFINE_LOOPS(composite_dynamic, omp teams distribute parallel for num_teams(3) schedule(monotonic : dynamic, 3))
DEFINE_LOOPS(composite_guided, omp teams distribute parallel for num_teams(3) schedule(monotonic : guided))
DEFINE_LOOPS(chunked, omp teams distribute parallel for num_teams(3) dist_schedule(static, 10))
DEFINE_LOOPS(chunked_static,
             omp teams distribute parallel for num_teams(3) dist_schedule(static, 10) schedule(static, 2))
DEFINE_LOOPS(chunked_dynamic,
             omp teams distribute parallel for num_teams(3) dist_schedule(static, 10) schedule(monotonic : dynamic, 3))

static void reduction(void) {
  long sum = 0;
#pragma omp teams distribute parallel for collapse(2) reduction(+ : sum) num_teams(2) dist_schedule(static, 5)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) sum += i * 100 + j;
  CHECK_EQ(sum, 100L * 190 * 30 + 20L * 435);
}

/* The teams divide the loop among them: an iteration's team is one of the league. */
static void teams_divide(void) {
  int team_of[60];
#pragma omp teams num_teams(4) shared(team_of)
#pragma omp distribute dist_schedule(static, 4)
  for (int i = 0; i < 60; i++) team_of[i] = omp_get_team_num() + 100 * omp_get_num_teams();
  int teams = team_of[0] / 100;
  CHECK_RANGE(teams, 1, 4);
  for (int i = 0; i < 60; i++) CHECK_EQ(team_of[i], i / 4 % teams + 100 * teams);
}

int main(void) {
#ifdef __SANITIZE_THREAD__ /* of an empty loop, each of GCC's teams writes what it takes for the last value */
  static const int sizes[] = {1, 2, 5, 10, 64, 99, 333};
#else
  static const int sizes[] = {0, 1, 2, 5, 10, 64, 99, 333};
#endif
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int n = sizes[i];
    plain(n);
    plain_chunked(n);
    composite(n);
    composite_static(n);
    composite_dynamic(n);
    composite_guided(n);
    chunked(n);
    chunked_static(n);
    chunked_dynamic(n);
  }
  reduction();
  teams_divide();
  return 0;
}
