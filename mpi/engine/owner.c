/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the owner, and passes calls to it.
 */
#include "engine/owner.h"

#include "engine/progress_thread.h"

NextMpi mpi_library;

bool owner_started;

void owner_start(int (*poll)(void*)) {
  mpi_library = next_mpi;
  next_mpi = owner_functions;
  next_mpi_is_itself = false;
  owner_started = true;
  progress_thread_start(poll);
}

bool owner_is_me(void) { return progress_thread_is_me(); }

void owner_call(void (*function)(void* arguments), void* arguments) {
  if (progress_thread_is_me())
    function(arguments);
  else
    progress_thread_run(function, arguments);
}
