// SPDX-License-Identifier: Apache-2.0
// A task for each element of a list that is complete.
// Expect: clean
#include <stdio.h>
#include <stdlib.h>

typedef struct Element {
  struct Element* next;
  int value;
} Element;

static int run(void) {
  Element* first = NULL;
  int failed = 0;
  for (int i = 0; i < 20; i++) {
    Element* element = malloc(sizeof *element);
    *element = (Element){first, i};
    first = element;
  }
  for (Element* at = first; at != NULL; at = at->next) {
#pragma omp task depend(inout : at->value)
    at->value *= 2;
#pragma omp task depend(inout : at->value)
    at->value += 1;
  }
#pragma omp taskwait
  for (int i = 19; first != NULL; i--) {
    Element* next = first->next;
    failed |= first->value != 2 * i + 1;
    free(first);
    first = next;
  }
  return failed;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
