/* SPDX-License-Identifier: Apache-2.0
 *
 * OMP_DISPLAY_AFFINITY: every thread of a region prints its line by OMP_AFFINITY_FORMAT, the first time and when what
 * there is to say has changed, and never otherwise. The child opens regions; the parent counts their lines.
 *
 * Covers: OMP_DISPLAY_AFFINITY, OMP_AFFINITY_FORMAT
 */
#include "../child.h"
#include <omp.h>

static void region(int threads) {
  int size = 0;
#pragma omp parallel num_threads(threads) reduction(+ : size)
  size++;
  CHECK_EQ(size, threads);
}

static int open_regions(void) {
  for (int i = 0; i < 5; i++) region(3);
  fflush(NULL);
  region(2);
  region(2);
  printf("pid=%d\n", (int)getpid());
  return 0;
}

static Child child;

static void run(char* first, char* second) {
  char* variables[] = {first, second, NULL};
  run_child(&child, "regions", variables);
  CHECK_EQ(child.status, 0);
}

static int lines_with(const char* word) {
  int count = 0;
  for (const char* at = child.output; (at = strstr(at, word)) != NULL; at++) count++;
  return count;
}

static void fields(void) {
  run("OMP_DISPLAY_AFFINITY=true",
      "OMP_AFFINITY_FORMAT=@@ L%L n%{thread_num} N%N a%a t%t T%T P%P:%i H%H A%A p%{place_num} b%{proc_bind} "
      "u%{nothing} [%0.4n] [%4n] %% !");
  CHECK_EQ(lines_with("@@ "), 5);
  CHECK_EQ(lines_with(" p-1 bfalse uundefined ["), 5);
  CHECK_EQ(lines_with(" N3 "), 3);
  CHECK_EQ(lines_with(" N2 "), 2);
  CHECK_EQ(lines_with("@@ L1 "), 5);
  CHECK_EQ(lines_with(" a0 t0 T1 P"), 5);
  char host[256] = " H", pid[32];
  gethostname(host + 2, sizeof host - 3);
  CHECK_EQ(lines_with(host), 5);
  int number;
  const char* own = strstr(child.output, "pid=");
  CHECK(own != NULL && sscanf(own, "pid=%d", &number) == 1);
  snprintf(pid, sizeof pid, " P%d:", number);
  CHECK_EQ(lines_with(pid), 5);
  for (int i = 0; i < 3; i++) {
    char start[32], padded[32];
    snprintf(start, sizeof start, " n%d N3 ", i);
    snprintf(padded, sizeof padded, "[000%d] [%d   ] %% !", i, i);
    CHECK_EQ(lines_with(start), 1);
    CHECK_EQ(lines_with(padded), i < 2 ? 2 : 1);
  }
}

static void check_ancestor(const char* expected) {
  char text[16];
  omp_capture_affinity(text, sizeof text, "%L %a");
  CHECK(strcmp(text, expected) == 0);
}

/* What is around a team of a league, and around its regions. */
static void ancestors(void) {
#pragma omp teams num_teams(1)
  {
    check_ancestor("0 -1");
#pragma omp parallel num_threads(1)
    check_ancestor("1 0");
  }
}

static void silence(void) {
  run("OMP_DISPLAY_AFFINITY=false", "OMP_AFFINITY_FORMAT=@@ %n");
  CHECK_EQ(lines_with("@@"), 0);
  run("OMP_AFFINITY_FORMAT=@@ %n", NULL);
  CHECK_EQ(lines_with("@@"), 0);
}

/* The line that is printed without a format says whether the thread is bound, too. */
static void as_usual(void) {
  run("OMP_DISPLAY_AFFINITY=true", NULL);
  CHECK_EQ(lines_with(" bound to OS proc set {"), 5);
  CHECK_EQ(lines_with("}, place -1, policy false\n"), 5);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "regions") == 0) return open_regions();
  fields();
  as_usual();
  ancestors();
  silence();
  return 0;
}
