/* SPDX-License-Identifier: Apache-2.0
 *
 * What this program uses of marline.h beyond OpenMP, looked for at run time: the same binary runs on any OpenMP
 * runtime, and the forms that need an entry say so where it is missing. Filled by the main thread, only read after
 * that.
 */
#ifndef HPCCG_RUNTIME_H
#define HPCCG_RUNTIME_H

#include <marline/marline.h>
#include <marline/marline_mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* A loop whose iterations create the same tasks. */
typedef enum { kGraphBarrier = 0, kGraphNowait = 1, kGraphReplay = 2 } GraphMode;
typedef struct marline_graph Graph;

typedef struct {
  void (*task_depend)(const marline_dependence_t *list, size_t n);
  marline_depend_object_t *(*depend_create)(const marline_dependence_t *list, size_t n);
  void (*depend_destroy)(marline_depend_object_t *object);
  void (*task_depend_object)(const marline_depend_object_t *object);
  Graph *(*graph_begin)(int mode);
  int (*graph_iterate)(Graph *graph);
  void (*graph_end)(Graph *graph);
  void (*cancel_later)(void);
  int (*cancelled)(void);
  marline_mpi_speculation_t *(*speculation_begin)(MPI_Comm comm);
  void (*speculation_stop)(marline_mpi_speculation_t *speculation);
  void (*speculation_end)(marline_mpi_speculation_t *speculation, marline_mpi_speculation_counts_t *counts);
  void (*counters_read)(marline_counters_t *out, size_t bytes);
} Runtime;

/* Entries that the process does not have are NULL. */
Runtime runtime_find(void);

bool runtime_has_lists(const Runtime *runtime);
bool runtime_has_graphs(const Runtime *runtime);
bool runtime_has_speculation(const Runtime *runtime);

#endif
