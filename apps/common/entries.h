/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of marline.h that applications use beyond OpenMP, looked up at run time: the same binary runs on any
 * OpenMP runtime, and forms that need a missing function report that. Filled by the main thread, only read after that.
 */
#ifndef APPS_COMMON_ENTRIES_H
#define APPS_COMMON_ENTRIES_H

#include <marline/marline.h>
#include <marline/marline_mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Named as in marline.h, without marline_. Entries that the process does not have are NULL. */
typedef struct {
  void (*task_depend)(const marline_dependence_t* list, size_t n);
  marline_depend_object_t* (*depend_create)(const marline_dependence_t* list, size_t n);
  void (*depend_destroy)(marline_depend_object_t* object);
  void (*task_depend_object)(const marline_depend_object_t* object);
  marline_graph_t* (*graph_begin)(int mode);
  int (*graph_iterate)(marline_graph_t* graph);
  void (*graph_end)(marline_graph_t* graph);
  void (*graph_invalidate)(marline_graph_t* graph);
  void (*taskgroup_cancel_later)(void);
  int (*taskgroup_cancelled)(void);
  marline_mpi_speculation_t* (*speculation_begin)(MPI_Comm comm);
  void (*speculation_stop)(marline_mpi_speculation_t* speculation);
  void (*speculation_end)(marline_mpi_speculation_t* speculation, marline_mpi_speculation_counts_t* counts);
  void (*counters_read)(marline_counters_t* out, size_t bytes);
} Entries;

Entries entries_find(void);

/* Whether the process has all entries that a form needs, except task_depend, graph_invalidate and
 * taskgroup_cancel_later. */
bool entries_have_objects(const Entries* entries);
bool entries_have_graphs(const Entries* entries);
bool entries_have_speculation(const Entries* entries);

#endif
