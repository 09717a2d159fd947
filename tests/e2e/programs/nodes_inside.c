// SPDX-License-Identifier: Apache-2.0
//
// test_nodes*.py: what target regions find on another node, and what they do there that ends the job. The argument says
// which.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#pragma omp declare target
static void copy_variable(char* to, size_t size, const char* name) {
  const char* value = getenv(name);
  snprintf(to, size, "%s", value != NULL ? value : "(none)");
}
static __attribute__((noinline)) int write_to(int* where) { return *where = 1; }
#pragma omp end declare target

static void look(void) {
  char folder[512] = "", variable[64] = "", numbers[64] = "", line[64] = "";
  long stack = 0;
  int threads = 0, input = -1;
#pragma omp target map(from : folder, variable, numbers, stack, threads, input)
  {
    struct rlimit limit;
    char letter;
    if (getcwd(folder, sizeof folder) == NULL) folder[0] = '\0';
    copy_variable(variable, sizeof variable, "NODES_VARIABLE");
    copy_variable(numbers, sizeof numbers, "OMP_NUM_THREADS");
    getrlimit(RLIMIT_STACK, &limit);
    stack = (long)limit.rlim_cur;
    threads = omp_get_max_threads();
    input = (int)read(0, &letter, 1);
  }
  if (fgets(line, sizeof line, stdin) != NULL) line[strcspn(line, "\n")] = '\0';
  printf("folder=%s\nvariable=%s\nnumbers=%s\nstack=%ld\n", folder, variable, numbers, stack);
  printf("threads=%d\ninput=%d\nline=%s\n", threads, input, line);
}

static void memory(void) {
  size_t bytes = (size_t)256 << 20;
  char* data = malloc(bytes);
  struct rusage before, after;
  memset(data, 1, bytes);
  getrusage(RUSAGE_SELF, &before);
#pragma omp target map(tofrom : data[0 : bytes])
  for (size_t i = 0; i < bytes; i += 4096) data[i] += 1;
  getrusage(RUSAGE_SELF, &after);
  printf("value=%d\nbefore=%ld\nafter=%ld\n", data[4096], before.ru_maxrss, after.ru_maxrss);
}

static void crash(void) {
  int *nowhere = NULL, written = 0;
#pragma omp target map(from : written)
  written = write_to(nowhere) + 1;
  printf("%d\n", written);
}

// What a wrong pointer to a function leads to.
static void call(void) {
#pragma omp target
  {
    void (*nowhere)(void) = NULL;
    __asm__ volatile("" : "+r"(nowhere));  // else compilers know better
    nowhere();
    __asm__ volatile("");
  }
}

// The stack cannot be read to its end.
static void smash(void) {
#pragma omp target
  {
    volatile char little[16];
    for (volatile int i = 0; i < 512; i++) little[i] = 'x';
  }
}

// A pointer of the program as one of the device.
static void confuse(int writes) {
  int value = 0, other = 0, host = omp_get_initial_device();
  omp_target_memcpy(&value, &other, sizeof value, 0, 0, writes ? 0 : host, writes ? host : 0);
}

// Says which process the worker is, and keeps it busy, or leaves it alone for a second.
static void serve(int is_idle) {
  int process = 0;
#pragma omp target map(from : process)
  process = getpid();
  printf("%d\n", process);
  fflush(stdout);
  if (is_idle) sleep(1);
  for (int i = 0; !is_idle || i < 1; ++i) {
#pragma omp target
    usleep(1000);
  }
}

static void start_children(const char* self) {
  char command[1024];
  snprintf(command, sizeof command, "'%s' count", self);
  FILE* child = popen(command, "r");
  char line[64] = "";
  if (child == NULL || fgets(line, sizeof line, child) == NULL) line[0] = '\0';
  printf("popen: %s", line);
  printf("popen ended %d\n", pclose(child));
  fflush(stdout);
  printf("system ended %d\n", system(command));
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "look") == 0) look();
  if (strcmp(what, "memory") == 0) memory();
  if (strcmp(what, "crash") == 0) crash();
  if (strcmp(what, "call") == 0) call();
  if (strcmp(what, "smash") == 0) smash();
  if (strcmp(what, "from") == 0) confuse(0);
  if (strcmp(what, "to") == 0) confuse(1);
  if (strcmp(what, "busy") == 0) serve(0);
  if (strcmp(what, "idle") == 0) serve(1);
  if (strcmp(what, "children") == 0) start_children(arguments[0]);
  if (strcmp(what, "launch") == 0) return system(arguments[2]) != 0;
  if (strcmp(what, "count") == 0 || strcmp(what, "children") == 0) printf("devices %d\n", omp_get_num_devices());
  return 0;
}
