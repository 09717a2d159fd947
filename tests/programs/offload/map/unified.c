/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that requires unified shared memory: host pointers are good in regions, without any map. A runtime that
 * cannot give this may refuse the program with one line.
 *
 * Covers: requires(unified_shared_memory)
 */
#include "../../check.h"
#include <omp.h>

#pragma omp requires unified_shared_memory

typedef struct Node {
  int value;
  struct Node* next;
} Node;

static int global = 3;

int main(void) {
  Node nodes[3] = {{1, &nodes[1]}, {2, &nodes[2]}, {3, NULL}}, *head = nodes;
  int *heap = malloc(10 * sizeof *heap), sum = 0;
  for (int i = 0; i < 10; i++) heap[i] = i;
#pragma omp target map(tofrom : sum)
  {
    for (Node* n = head; n; n = n->next) sum += n->value++;
    for (int i = 0; i < 10; i++) heap[i] += sum;
  }
  CHECK_EQ(sum, 6);
  CHECK_EQ(nodes[2].value, 4);
  CHECK_EQ(heap[9], 15);
  int* p = &global;
#pragma omp target
  (*p)++;
  CHECK_EQ(global, 4);
  free(heap);
  return 0;
}
