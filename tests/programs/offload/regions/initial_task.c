/* SPDX-License-Identifier: Apache-2.0
 *
 * A target region on the host is an initial task: whatever is around the construct, the region has one thread at level
 * 0, with the initial control variables; worksharing in it is its own, and a parallel construct gets a team. (Clang
 * calls the region like a function, so that no runtime can tell.)
 *
 * Covers (gcc): target(thread_limit), target teams(num_teams, thread_limit),
 *  target teams distribute parallel for(reduction), omp_get_team_num, omp_get_num_teams
 */
#include "../../check.h"
#include <omp.h>

static void inside(int threads_wanted) {
  int level = -1, number = -1, size = -1, in_parallel = -1, count = 0, inner = 0, inner_level = -1, final = -1;
#pragma omp target map(tofrom : level, number, size, in_parallel, count, inner, inner_level, final)
  {
    level = omp_get_level();
    number = omp_get_thread_num();
    size = omp_get_num_threads();
    in_parallel = omp_in_parallel();
    final = omp_in_final();
#pragma omp for
    for (int i = 0; i < 50; i++) count++; /* all of them, by the one thread */
#pragma omp single
    count++;
#pragma omp barrier
#pragma omp parallel num_threads(threads_wanted)
    {
#pragma omp single
      {
        inner = omp_get_num_threads();
        inner_level = omp_get_level();
      }
#pragma omp for reduction(+ : count)
      for (int i = 0; i < 100; i++) count++;
    }
#pragma omp task shared(count)
    count++;
  } /* which waits for the task */
  CHECK_EQ(level, 0);
  CHECK_EQ(number, 0);
  CHECK_EQ(size, 1);
  CHECK_EQ(in_parallel, 0);
  CHECK_EQ(final, 0);
  CHECK_EQ(inner, threads_wanted);
  CHECK_EQ(inner_level, 1);
  CHECK_EQ(count, 152);
}

static void control_variables(void) {
  int threads = omp_get_max_threads(), inside_threads = 0, limit = 0, default_limit = 0;
  omp_set_num_threads(threads + 3);
#pragma omp target map(from : inside_threads, default_limit)
  {
    inside_threads = omp_get_max_threads();
    omp_set_num_threads(1);
    default_limit = omp_get_thread_limit();
  }
  CHECK_EQ(inside_threads, threads);
  CHECK_EQ(omp_get_max_threads(), threads + 3);
  CHECK_EQ(default_limit, omp_get_thread_limit());
  omp_set_num_threads(threads);
#pragma omp target thread_limit(3) map(from : limit)
  limit = omp_get_thread_limit();
  CHECK_EQ(limit, default_limit < 3 ? default_limit : 3);
  limit = 0;
#pragma omp target nowait thread_limit(5) map(from : limit)
  limit = omp_get_thread_limit();
#pragma omp taskwait
  CHECK_EQ(limit, default_limit < 5 ? default_limit : 5);
  CHECK_EQ(omp_get_thread_limit(), default_limit);
}

static void leagues(void) {
  unsigned seen = 0;
  int count = 0, too_many = 0;
#pragma omp target teams num_teams(4) thread_limit(2) map(tofrom : seen, count, too_many)
  {
    seen |= 1u << omp_get_team_num();
    count += omp_get_num_teams();
    int threads = 0;
#pragma omp parallel num_threads(8) reduction(+ : threads)
    threads++;
    too_many += threads > 2;
  }
  CHECK_EQ(seen, 15);
  CHECK_EQ(count, 16);
  CHECK_EQ(too_many, 0);
  long sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += i;
  CHECK_EQ(sum, 499500);
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
}

int main(void) {
  inside(1);
  inside(2);
  control_variables();
  leagues();
#pragma omp parallel num_threads(2)
  {
    inside(2);
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task
      inside(1 + i % 3);
    }
    leagues();
#pragma omp single
#pragma omp task final(1)
    {
      inside(2);
      int done = 0;
#pragma omp target nowait map(tofrom : done)
      done = 1;
      CHECK_EQ(done, 1); /* an included task */
    }
  }
  return 0;
}
