/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the library named first, which uses OpenMP, calls it and unloads it, again and again, on the first thread and
 * on threads that end. It has no OpenMP itself, so the runtime comes and goes with the library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { kRounds = 10 };

static int threads;

static void* use(void* file) {
  for (int i = 0; i < 3; i++) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return NULL;
    }
    threads += ((int (*)(void))dlsym(library, "count_threads"))();
    dlclose(library);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (int round = 0; round < kRounds; round++) {
    pthread_t thread;
    use(argv[1]);
    if (pthread_create(&thread, NULL, use, argv[1]) != 0) return 1;
    pthread_join(thread, NULL);
  }
  printf("threads=%d\n", threads);
  return 0;
}
