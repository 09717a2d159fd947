/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that uses an address of the program's which is not mapped: whatever memory of the program's it is, small or
 * large, read or written, the process that is the device finds nothing there and says where. Each case is a run of its
 * own.
 *
 * Covers: target(map)
 */
#include "../../child.h"
#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>

typedef struct {
  int n;
  char* data;
} Holder;

static char* blocks(size_t bytes, int count) {
  char* last = NULL;
  for (int i = 0; i < count; i++) last = malloc(bytes);
  return last;
}

static void* in_thread(void* bytes) { return blocks((size_t)bytes, 20); }

static char* of_thread(size_t bytes) {
  pthread_t thread;
  void* block;
  CHECK_EQ(pthread_create(&thread, NULL, in_thread, (void*)bytes), 0);
  CHECK_EQ(pthread_join(thread, &block), 0);
  return block;
}

static char* map_pages(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void use(char* data, int writes) {
  Holder s = {1, data};
  int seen = 0;
  *data = 1;
  fprintf(stderr, "uses %p\n", (void*)data);
#pragma omp target map(to : s, writes) map(from : seen)
  {
    if (writes) s.data[0] = 2;
    seen = s.data[0];
  }
  printf("went on: %d\n", seen);
}

static __attribute__((noinline)) void on_stack(int writes) {
  volatile char large[32 << 10];
  large[0] = 0;
  use((char*)large, writes);
}

static void run(const char* mode) {
  int writes = mode[0] == 'w';
  const char* what = mode + 1;
  if (strcmp(what, "tiny") == 0)
    use(blocks(16, 100), writes);
  else if (strcmp(what, "small") == 0)
    use(blocks(200, 10), writes);
  else if (strcmp(what, "pages") == 0)
    use(blocks(8000, 1), writes);
  else if (strcmp(what, "large") == 0)
    use(blocks(4 << 20, 3), writes);
  else if (strcmp(what, "thread") == 0)
    use(of_thread(300), writes);
  else if (strcmp(what, "mapped") == 0)
    use(map_pages(4096), writes);
  else
    on_stack(writes);
}

int main(int argc, char** argv) {
  static const char* const modes[] = {"tiny", "small", "pages", "large", "thread", "mapped", "stack"};
  static Child child;
  char* variables[] = {NULL};
  if (argc > 1) {
    run(argv[1]);
    return 0;
  }
  if (omp_get_num_devices() == 0) return 0;
  for (int i = 0; i < 14; i++) {
    char mode[16];
    snprintf(mode, sizeof mode, "%c%s", i % 2 ? 'w' : 'r', modes[i / 2]);
    run_child(&child, mode, variables);
    const char* used = strstr(child.output, "uses ");
    CHECK(used != NULL);
    char address[32];
    CHECK_EQ(sscanf(used, "uses %31s", address), 1);
    CHECK_LINE(&child, "marline: fatal: device 0 (process)", "(Segmentation fault) at address", address,
               "in the target region");
  }
  return 0;
}
