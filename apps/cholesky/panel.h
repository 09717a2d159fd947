/* SPDX-License-Identifier: Apache-2.0
 *
 * The exchange of a step's tiles of L. Tile (m, k) goes once to each process that reads it, by a plain blocking
 * MPI_Send in a task of its own there and a plain blocking MPI_Recv here, into a buffer that all local readers share.
 *
 * Memory is bounded: the buffers form a ring of kPanels panels, step k uses panel k mod kPanels, and since the
 * receiving task has `depend(out)` on the buffer it waits for the readers of step k - kPanels. That cannot deadlock:
 * a task of step k waits only for tasks and messages of steps up to k, and within a step only for tasks that come
 * earlier in one order which all processes share (rising m). The same argument shows that creation order itself is a
 * valid sequential execution.
 *
 * A Panel is created by the main thread; the functions that create tasks are called by one thread per phase.
 */
#ifndef CHOLESKY_PANEL_H
#define CHOLESKY_PANEL_H

#include "matrix.h"

typedef struct {
  Layout layout;
  double* slab;  /* kPanels x (row_slots + col_slots) tiles; NULL if there is nothing to receive */
  int row_slots; /* tiles of this process' tile rows, by local row */
  int col_slots; /* tiles of its tile columns, by local column */
} Panel;

/* False if memory does not suffice. */
bool panel_create(Panel* panel, const Layout* layout);
void panel_destroy(Panel* panel);

/* The largest message tag that the exchange uses. May exceed what an int or MPI's MPI_TAG_UB holds: check first. */
long long panel_largest_tag(const Layout* layout);

/* Creates the tasks that send tile (m, k) of l to its readers, or the one that receives it, or none. All processes call
 * this for the same (m, k) in the same order. */
void panel_share(const Panel* panel, const Matrix* l, int m, int k);

/* Tile (m, k) as a local reader sees it: this process' own, or the receive buffer. */
Tile panel_tile(const Panel* panel, const Matrix* l, int m, int k);

#endif
