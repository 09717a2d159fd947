/* SPDX-License-Identifier: Apache-2.0
 *
 * Receive buffers and communication tasks; see panel.h for the ring and why it cannot deadlock.
 *
 * The tasks keep nothing in thread-local storage across an MPI call: being untied, they may continue on another thread.
 */
#include "panel.h"

#include <mpi.h>
#include <stdlib.h>

enum { kPanels = 4 };

bool panel_create(Panel* panel, const Layout* layout) {
  *panel = (Panel){.layout = *layout};
  /* With one process along an edge of the grid, every tile that is read along that edge is the process' own. */
  if (layout->grid_cols > 1) {
    panel->row_slots = layout_share(layout, layout->grid_rows, layout->my_row);
  }
  if (layout->grid_rows > 1) {
    panel->col_slots = layout_share(layout, layout->grid_cols, layout->my_col);
  }
  size_t tiles = ((size_t)panel->row_slots + (size_t)panel->col_slots) * kPanels;
  if (tiles == 0) {
    return true;
  }
  panel->slab = tile_slab_allocate(layout, tiles);
  return panel->slab != NULL;
}

void panel_destroy(Panel* panel) {
  free(panel->slab);
  panel->slab = NULL;
}

/* A tile's tag is its place in its owner's table. Each (sender, tag) is used once per phase, so that messages match
 * whatever the order in which the tasks run. */
static long long tile_tag(const Layout* layout, int m, int k) {
  long long table_cols = (layout->tiles - 1) / layout->grid_cols + 1;
  return m / layout->grid_rows * table_cols + k / layout->grid_cols;
}

long long panel_largest_tag(const Layout* layout) {
  bool alone = layout->grid_rows == 1 && layout->grid_cols == 1;
  return alone ? 0 : tile_tag(layout, layout->tiles - 1, layout->tiles - 1);
}

static Tile panel_buffer(const Panel* panel, int m, int k) {
  const Layout* layout = &panel->layout;
  bool in_my_rows = panel->row_slots > 0 && m % layout->grid_rows == layout->my_row;
  int slot = in_my_rows ? m / layout->grid_rows : panel->row_slots + m / layout->grid_cols;
  size_t index = (size_t)(k % kPanels) * (size_t)(panel->row_slots + panel->col_slots) + (size_t)slot;
  return (Tile){panel->slab + index * tile_stride(layout), layout_extent(layout, m), layout_extent(layout, k)};
}

Tile panel_tile(const Panel* panel, const Matrix* l, int m, int k) {
  return layout_owns(&panel->layout, m, k) ? matrix_tile(l, m, k) : panel_buffer(panel, m, k);
}

/* No default(none) in these two: Open MPI's handles are the addresses of global variables, which it would have to
 * list. A tile that is sent early is waited for shortly; a priority only counts if the environment says so. */
__attribute__((noinline)) static void task_send(Tile tile, int receiver, int tag) {
#pragma omp task untied firstprivate(tile, receiver, tag) depend(in : tile.data[0]) priority(1)
  MPI_Send(tile.data, tile_message_count(tile), MPI_DOUBLE, receiver, tag, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void task_recv(Tile tile, int sender, int tag) {
#pragma omp task untied firstprivate(tile, sender, tag) depend(out : tile.data[0])
  MPI_Recv(tile.data, tile_message_count(tile), MPI_DOUBLE, sender, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_to(const Panel* panel, const Matrix* l, int m, int k, int row, int col) {
  const Layout* layout = &panel->layout;
  bool to_self = row == layout->my_row && col == layout->my_col;
  if (!to_self && layout_needs(layout, row, col, m, k)) {
    task_send(matrix_tile(l, m, k), row * layout->grid_cols + col, (int)tile_tag(layout, m, k));
  }
}

void panel_share(const Panel* panel, const Matrix* l, int m, int k) {
  const Layout* layout = &panel->layout;
  if (layout_owns(layout, m, k)) {
    int row = m % layout->grid_rows;
    int col = m % layout->grid_cols;
    for (int c = 0; c < layout->grid_cols; ++c) {
      send_to(panel, l, m, k, row, c);
    }
    for (int r = 0; r < layout->grid_rows; ++r) {
      if (r != row) { /* (row, col) was in the first loop */
        send_to(panel, l, m, k, r, col);
      }
    }
  } else if (layout_needs(layout, layout->my_row, layout->my_col, m, k)) {
    task_recv(panel_buffer(panel, m, k), layout_owner(layout, m, k), (int)tile_tag(layout, m, k));
  }
}
