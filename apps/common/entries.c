/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks up the functions of marline.h in the process. No state.
 */
#include "entries.h"

#include <dlfcn.h>

Entries entries_find(void) {
  Entries entries;
  struct {
    const char* name;
    void** entry;
  } wanted[] = {
      {"marline_task_depend", (void**)&entries.task_depend},
      {"marline_depend_create", (void**)&entries.depend_create},
      {"marline_depend_destroy", (void**)&entries.depend_destroy},
      {"marline_task_depend_object", (void**)&entries.task_depend_object},
      {"marline_graph_begin", (void**)&entries.graph_begin},
      {"marline_graph_iterate", (void**)&entries.graph_iterate},
      {"marline_graph_end", (void**)&entries.graph_end},
      {"marline_graph_invalidate", (void**)&entries.graph_invalidate},
      {"marline_taskgroup_cancel_later", (void**)&entries.taskgroup_cancel_later},
      {"marline_taskgroup_cancelled", (void**)&entries.taskgroup_cancelled},
      {"marline_mpi_speculation_begin", (void**)&entries.speculation_begin},
      {"marline_mpi_speculation_stop", (void**)&entries.speculation_stop},
      {"marline_mpi_speculation_end", (void**)&entries.speculation_end},
      {"marline_counters_read", (void**)&entries.counters_read},
  };
  for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; ++k) {
    *wanted[k].entry = dlsym(RTLD_DEFAULT, wanted[k].name);
  }
  return entries;
}

bool entries_have_objects(const Entries* entries) {
  return entries->depend_create && entries->depend_destroy && entries->task_depend_object;
}

bool entries_have_graphs(const Entries* entries) {
  return entries->graph_begin && entries->graph_iterate && entries->graph_end;
}

bool entries_have_speculation(const Entries* entries) {
  return entries->taskgroup_cancelled && entries->speculation_begin && entries->speculation_stop &&
         entries->speculation_end;
}
