/* SPDX-License-Identifier: Apache-2.0
 *
 * The ABIs of MPI: `openmpi` (Open MPI 4 and 5), `mpich` (MPICH and its relatives) and `standard` (MPI 5.0, chapter
 * 20), by the names of their folders in pmpi/abi. A library of ours is built for one of them. Any thread.
 */
#ifndef MARLINE_PMPI_ABI_H
#define MARLINE_PMPI_ABI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI of the MPI library that `handle` (of dlopen, or RTLD_NEXT) leads to; NULL if it leads to none, or to one that
 * is older than MPI 3.0. */
const char* pmpi_abi_of(void* handle);

/* The ABI that this library is built for. */
const char* pmpi_own_abi(void);

/* The name of an ABI, for messages. */
const char* pmpi_abi_title(const char* abi);

/* What the MPI library says about itself: the first line of MPI_Get_library_version, cut to fit. */
void pmpi_version_of(void* handle, char* line, size_t room);

#ifdef __cplusplus
}
#endif

#endif
