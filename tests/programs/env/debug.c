/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_DEBUG=enabled names a library for debuggers, which is there and has OMPD's functions; otherwise none is named.
 * The program runs itself once per setting, with regions and tasks of all kinds that OMPD's breakpoints know.
 * tests/e2e/tools/test_ompd.py asks the library.
 *
 * Covers: OMP_DEBUG
 */
#include "../child.h"
#include <dlfcn.h>
#include <omp.h>

static int use_everything(void) {
  int count = 0;
#pragma omp parallel reduction(+ : count)
  {
    int mine = 0;
#pragma omp task shared(mine)
#pragma omp atomic
    mine++;
#pragma omp task if (0) shared(mine)
#pragma omp atomic
    mine++;
#pragma omp taskwait
#pragma omp parallel if (0) shared(mine)
    mine++;
    count += mine;
  }
#pragma omp teams num_teams(2) reduction(+ : count)
  count++;
  return count - 3 * omp_get_max_threads();
}

static int report(void) {
  CHECK_EQ(use_everything(), 2);
  const char*** place = (const char***)dlsym(RTLD_DEFAULT, "ompd_dll_locations");
  CHECK(place != NULL);
  CHECK(dlsym(RTLD_DEFAULT, "marline_ompd_layout") != NULL); /* what the library reads first, without a symbol table */
  const char** names = *place;
  if (names == NULL) return puts("none.") < 0;
  CHECK(names[0] != NULL && names[1] == NULL);
  void* library = dlopen(names[0], RTLD_NOW);
  if (library == NULL) check_failed(__FILE__, __LINE__, "%s", dlerror());
  long version = 0;
  int (*get_api_version)(long*) = (int (*)(long*))dlsym(library, "ompd_get_api_version");
  CHECK(get_api_version != NULL);
  CHECK_EQ(get_api_version(&version), 0);
  printf("version %ld.\n", version);
  return 0;
}

static void expect(const char* setting, const char* line) {
  static Child child;
  char* variables[] = {strdup(setting), NULL};
  run_child(&child, "report", variables);
  CHECK_EQ(child.status, 0);
  CHECK_LINE(&child, line);
  CHECK(strstr(child.output, "warning") == NULL);
  free(variables[0]);
}

int main(int argc, char** argv) {
  if (argc > 1) return report();
  (void)argv;
  expect("OMP_DEBUG=enabled", "version 201811.");
  expect("OMP_DEBUG=disabled", "none.");
  expect("OMP_DEBUG=", "none.");
  return 0;
}
