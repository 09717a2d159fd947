/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs that do one wrong thing share: the thing is named by the argument, and a line tells if the program
 * survived it.
 */
#ifndef PROGRAMS_TARGET_BAD_H
#define PROGRAMS_TARGET_BAD_H

#include "../../check.h"
#include <omp.h>

#define N 100

typedef struct {
  const char* name;
  void (*run)(void);
} Mistake;

static inline int make_mistake(int argc, char** argv, const Mistake* mistakes, int count) {
  for (int i = 0; i < count; i++) {
    if (argc > 1 && strcmp(argv[1], mistakes[i].name) == 0) {
      mistakes[i].run();
      puts("went on");
      return 0;
    }
  }
  fprintf(stderr, "usage: %s", argv[0]);
  for (int i = 0; i < count; i++) fprintf(stderr, "%s %s", i ? " |" : "", mistakes[i].name);
  fputc('\n', stderr);
  return 2;
}

#define MAKE_MISTAKE(argc, argv, mistakes) \
  make_mistake(argc, argv, mistakes, (int)(sizeof(mistakes) / sizeof((mistakes)[0])))

#endif
