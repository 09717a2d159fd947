/* SPDX-License-Identifier: Apache-2.0
 *
 * As the recorder's trace/mpi/library.cpp does it.
 */
#include "mpi/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pmpi/abi.h"
#include "../pmpi/caller.h"
#include "../pmpi/library.h"

static NextMpi functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local const void* program_site __attribute__((tls_model("initial-exec")));

void pmpi_fatal(const char* line) {
  fprintf(stderr, "marline: check: %s\n", line);
  _exit(EXIT_FAILURE);
}

static void resolve(void) {
  const char* abi = pmpi_abi_of(pmpi_handle());
  if (abi == NULL) pmpi_fatal("no MPI library of version 3.0 or newer is loaded");
  if (strcmp(abi, pmpi_own_abi()) != 0) {
    char version[64], line[256];
    pmpi_version_of(pmpi_handle(), version, sizeof version);
    snprintf(line, sizeof line, "MPI's buffers cannot be recorded: the program runs '%s', which is not %s", version,
             pmpi_abi_title(pmpi_own_abi()));
    pmpi_fatal(line);
  }
  pmpi_resolve(&functions);
}

const NextMpi* mpi(void) {
  pthread_once(&once, resolve);
  return &functions;
}

/* caller.c calls this function of the library that it is built into. */
const void* library_address(void) {
  const void* address = NULL;
  memcpy(&address, &mpi()->Init_thread, sizeof address);
  return address;
}

/* Not inlined, for a fiber may have moved to another thread since it read the address of a thread's variable. */
__attribute__((noinline)) bool is_noted(const void* code) {
  program_site = code;
  return caller_of(code) != kCallerMpi;
}

/* For libmarline-mpi: it decides by the caller whether a call may suspend, and sees only this library as its caller. */
MPI_API __attribute__((noinline)) const void* marline_trace_caller(void) { return program_site; }
