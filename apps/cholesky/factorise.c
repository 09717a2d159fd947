/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread per process walks through the steps in program order and creates a task for each kernel and each
 * message; the `depend` clauses are all that orders them. Every kind of task has a function of its own that is not
 * inlined, so that the code address which a tool sees at its creation names it.
 */
#include "factorise.h"

#include "kernels.h"

__attribute__((noinline)) static void task_potrf(Tile a, int first_row) {
#pragma omp task untied default(none) firstprivate(a, first_row) depend(inout : a.data[0])
  kernel_potrf(a, first_row);
}

__attribute__((noinline)) static void task_trsm(Tile diagonal, Tile a) {
#pragma omp task untied default(none) firstprivate(diagonal, a) depend(in : diagonal.data[0]) depend(inout : a.data[0])
  kernel_trsm(diagonal, a);
}

__attribute__((noinline)) static void task_syrk(Tile a, Tile c) {
#pragma omp task untied default(none) firstprivate(a, c) depend(in : a.data[0]) depend(inout : c.data[0])
  kernel_syrk(a, c);
}

__attribute__((noinline)) static void task_gemm(Tile a, Tile b, Tile c) {
#pragma omp task untied default(none) firstprivate(a, b, c) depend(in : a.data[0], b.data[0]) depend(inout : c.data[0])
  kernel_gemm(a, b, c);
}

/* Column k of L, and its way to the processes that read it. */
static void create_panel_tasks(const Matrix* a, const Panel* panel, int k) {
  const Layout* layout = &a->layout;
  for (int m = k; m < layout->tiles; ++m) {
    if (layout_owns(layout, m, k)) {
      if (m == k) {
        task_potrf(matrix_tile(a, k, k), k * layout->tile);
      } else {
        task_trsm(panel_tile(panel, a, k, k), matrix_tile(a, m, k));
      }
    }
    panel_share(panel, a, m, k);
  }
}

/* The rest of the matrix, column by column: column k+1, which the next step waits for, comes first. */
static void create_update_tasks(const Matrix* a, const Panel* panel, int k) {
  const Layout* layout = &a->layout;
  for (int j = layout_next(k + 1, layout->grid_cols, layout->my_col); j < layout->tiles; j += layout->grid_cols) {
    for (int i = layout_next(j, layout->grid_rows, layout->my_row); i < layout->tiles; i += layout->grid_rows) {
      if (i == j) {
        task_syrk(panel_tile(panel, a, j, k), matrix_tile(a, j, j));
      } else {
        task_gemm(panel_tile(panel, a, i, k), panel_tile(panel, a, j, k), matrix_tile(a, i, j));
      }
    }
  }
}

void factorise(Matrix* a, const Panel* panel) {
#pragma omp parallel default(none) shared(a, panel)
#pragma omp single
  for (int k = 0; k < a->layout.tiles; ++k) {
    create_panel_tasks(a, panel, k);
    create_update_tasks(a, panel, k);
  }
}
