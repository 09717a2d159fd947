/* SPDX-License-Identifier: Apache-2.0
 *
 * num_threads with a list and with `strict` (OpenMP 6.0), by the calls that compilers make of them: the list's first
 * number is the region's, the others are what the regions inside start from; fewer threads than a strict clause asks
 * for are a warning or the program's end, as it says.
 *
 * Covers: entry points of other compilers
 */
#include "../child.h"
#include "../kmp.h"
#include <omp.h>

void __kmpc_push_num_threads_strict(KmpIdent*, int32_t, int32_t, int32_t severity, const char* message);
void __kmpc_push_num_threads_list(KmpIdent*, int32_t, uint32_t count, int32_t* list);
void __kmpc_push_num_threads_list_strict(KmpIdent*, int32_t, uint32_t count, int32_t* list, int32_t severity,
                                         const char* message);

enum { kWarning = 1, kFatal = 2 };

static int32_t me(void) { return __kmpc_global_thread_num(&kmp_here); }

static void check_region(int size, int inside) {
#pragma omp parallel
  {
    CHECK_EQ(omp_get_num_threads(), size);
    CHECK_EQ(omp_get_max_threads(), inside);
  }
}

static void lists(void) {
  int32_t list[] = {3, 5, 2}, inner[] = {2, 9};
  int n = omp_get_max_threads();
  check_region(n, n);
  for (int round = 0; round < 3; round++) {
    __kmpc_push_num_threads_list(&kmp_here, me(), 3, list);
#pragma omp parallel
    {
      CHECK_EQ(omp_get_num_threads(), 3);
      CHECK_EQ(omp_get_max_threads(), 5);
#pragma omp parallel num_threads(1) /* a number alone is that region's only */
      {
        CHECK_EQ(omp_get_max_threads(), 2);
#pragma omp parallel num_threads(1)
        CHECK_EQ(omp_get_max_threads(), 2); /* the last one holds further inside */
      }
      __kmpc_push_num_threads_list(&kmp_here, me(), 2, inner);
#pragma omp parallel
      {
        CHECK_RANGE(omp_get_num_threads(), 1, 2); /* fewer if there are no more */
        CHECK_EQ(omp_get_max_threads(), 9);
      }
#pragma omp parallel num_threads(1)
      CHECK_EQ(omp_get_max_threads(), 2);
    }
    check_region(n, n); /* the list has ended with its region */
  }
  if (!on_stock_runtime()) { /* libomp 19 wants two numbers */
    __kmpc_push_num_threads_list(&kmp_here, me(), 1, list);
    check_region(3, n);
  }
  CHECK_EQ(omp_get_max_threads(), n);
}

static void strict(void) {
  int32_t list[] = {2, 4};
  int n = omp_get_max_threads();
  for (int32_t k = 1; k <= 4; k++) {
    __kmpc_push_num_threads_strict(&kmp_here, me(), k, kFatal, "not this time");
    check_region(k, n);
  }
  __kmpc_push_num_threads_list_strict(&kmp_here, me(), 2, list, kFatal, NULL);
  check_region(2, 4);
  check_region(n, n);
}

/* A choice of fewer would be the runtime's own, and an error without need. */
static void strict_and_dynamic(void) {
  omp_set_dynamic(1);
  __kmpc_push_num_threads_strict(&kmp_here, me(), 4, kFatal, "not this time");
  int size = 0;
#pragma omp parallel reduction(+ : size)
  size++;
  CHECK_EQ(size, 4);
  omp_set_dynamic(0);
}

static int too_many(int severity) {
  int size = 0;
  __kmpc_push_num_threads_strict(&kmp_here, me(), 4, severity, "four are needed");
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  printf("went on with %d\n", size);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return too_many(strcmp(argv[1], "fatal") == 0 ? kFatal : kWarning);
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  lists();
  strict();
  if (!on_stock_runtime()) strict_and_dynamic();
  static Child child;
  char *limit[] = {"OMP_THREAD_LIMIT=2", NULL}, *no_limit[] = {"OMP_THREAD_LIMIT=8", NULL};
  run_child(&child, "warning", limit);
  CHECK(child.exited && child.status == 0);
  CHECK_LINE(&child, "four are needed");
  CHECK(strstr(child.output, "went on with") != NULL);
  run_child(&child, "fatal", limit);
  CHECK(!child.exited || child.status != 0);
  CHECK_LINE(&child, "four are needed");
  CHECK(strstr(child.output, "went on with") == NULL);
  run_child(&child, "fatal", no_limit);
  CHECK(child.exited && child.status == 0);
  CHECK(strstr(child.output, "four are needed") == NULL);
  CHECK(strstr(child.output, "went on with 4") != NULL);
  return 0;
}
