/* SPDX-License-Identifier: Apache-2.0
 *
 * See runtime.h. No state.
 */
#include "runtime.h"

#include <dlfcn.h>

Runtime runtime_find(void) {
  Runtime runtime;
  struct {
    const char *name;
    void **entry;
  } wanted[] = {
      {"marline_task_depend", (void **)&runtime.task_depend},
      {"marline_depend_create", (void **)&runtime.depend_create},
      {"marline_depend_destroy", (void **)&runtime.depend_destroy},
      {"marline_task_depend_object", (void **)&runtime.task_depend_object},
      {"marline_graph_begin", (void **)&runtime.graph_begin},
      {"marline_graph_iterate", (void **)&runtime.graph_iterate},
      {"marline_graph_end", (void **)&runtime.graph_end},
      {"marline_taskgroup_cancel_later", (void **)&runtime.cancel_later},
      {"marline_taskgroup_cancelled", (void **)&runtime.cancelled},
      {"marline_mpi_speculation_begin", (void **)&runtime.speculation_begin},
      {"marline_mpi_speculation_stop", (void **)&runtime.speculation_stop},
      {"marline_mpi_speculation_end", (void **)&runtime.speculation_end},
      {"marline_counters_read", (void **)&runtime.counters_read},
  };
  for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; ++k) {
    *wanted[k].entry = dlsym(RTLD_DEFAULT, wanted[k].name);
  }
  return runtime;
}

bool runtime_has_lists(const Runtime *runtime) {
  return runtime->task_depend && runtime->depend_create && runtime->depend_destroy && runtime->task_depend_object;
}

bool runtime_has_graphs(const Runtime *runtime) {
  return runtime->graph_begin && runtime->graph_iterate && runtime->graph_end;
}

bool runtime_has_speculation(const Runtime *runtime) {
  return runtime->cancelled && runtime->speculation_begin && runtime->speculation_stop && runtime->speculation_end;
}
