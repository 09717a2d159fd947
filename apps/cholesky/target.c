/* SPDX-License-Identifier: Apache-2.0
 *
 * The factorisation on the default device: see target.h. The graph is that of factorise.c on one process, and each
 * kernel is a target task. Nothing waits before all of them have been created. Dependences name the bytes that a kernel
 * uses, no more and no fewer, so that they also say what must go where. Regions take a tile as a pointer and numbers:
 * Clang (14 to 22) does not copy a structure that is firstprivate when a region with nowait is created.
 */
#include "target.h"

#include <omp.h>

#include "device.h"
#include "kernels.h"

static size_t size_of(Tile tile) { return (size_t)tile_message_count(tile); }

static void target_potrf(Tile tile, int first_row) {
  double* a = tile.data;
  const int rows = tile.rows, cols = tile.cols;
  const size_t size = size_of(tile);
#pragma omp target nowait depend(inout : a[0 : size]) map(tofrom : a[0 : size])
  {
    kernels_use_one_thread();
    kernel_potrf((Tile){a, rows, cols}, first_row);
  }
}

static void target_trsm(Tile diagonal, Tile tile) {
  double *d = diagonal.data, *a = tile.data;
  const int edge = diagonal.rows, rows = tile.rows, cols = tile.cols;
  const size_t diagonal_size = size_of(diagonal), size = size_of(tile);
#pragma omp target nowait depend(in : d[0 : diagonal_size]) depend(inout : a[0 : size]) map(to : d[0 : diagonal_size]) \
    map(tofrom : a[0 : size])
  {
    kernels_use_one_thread();
    kernel_trsm((Tile){d, edge, edge}, (Tile){a, rows, cols});
  }
}

static void target_syrk(Tile from, Tile tile) {
  double *a = from.data, *c = tile.data;
  const int a_rows = from.rows, a_cols = from.cols, rows = tile.rows, cols = tile.cols;
  const size_t a_size = size_of(from), size = size_of(tile);
#pragma omp target nowait depend(in : a[0 : a_size]) depend(inout : c[0 : size]) map(to : a[0 : a_size]) \
    map(tofrom : c[0 : size])
  {
    kernels_use_one_thread();
    kernel_syrk((Tile){a, a_rows, a_cols}, (Tile){c, rows, cols});
  }
}

static void target_gemm(Tile left, Tile right, Tile tile) {
  double *a = left.data, *b = right.data, *c = tile.data;
  const int a_rows = left.rows, b_rows = right.rows, inner = left.cols, rows = tile.rows, cols = tile.cols;
  const size_t a_size = size_of(left), b_size = size_of(right), size = size_of(tile);
#pragma omp target nowait depend(in : a[0 : a_size], b[0 : b_size]) depend(inout : c[0 : size]) \
    map(to : a[0 : a_size], b[0 : b_size]) map(tofrom : c[0 : size])
  {
    kernels_use_one_thread();
    kernel_gemm((Tile){a, a_rows, inner}, (Tile){b, b_rows, inner}, (Tile){c, rows, cols});
  }
}

static void target_enter(Tile tile) {
  double* a = tile.data;
  const size_t size = size_of(tile);
  (void)a; /* for GCC, which does not count what only a clause names */
#pragma omp target enter data nowait depend(out : a[0 : size]) map(to : a[0 : size])
}

static void target_leave(Tile tile) {
  double* a = tile.data;
  const size_t size = size_of(tile);
  (void)a;
#pragma omp target exit data nowait depend(inout : a[0 : size]) map(from : a[0 : size])
}

static void visit_tiles(const Matrix* a, void (*visit)(Tile tile)) {
  for (int k = 0; k < a->layout.tiles; ++k) {
    for (int m = k; m < a->layout.tiles; ++m) {
      visit(matrix_tile(a, m, k));
    }
  }
}

/* Column k of L, and its updates of all later columns. Column k+1 comes first, as the next step waits for it.
 */
static void create_step(const Matrix* a, int k) {
  const int tiles = a->layout.tiles;
  target_potrf(matrix_tile(a, k, k), k * a->layout.tile);
  for (int m = k + 1; m < tiles; ++m) {
    target_trsm(matrix_tile(a, k, k), matrix_tile(a, m, k));
  }
  for (int j = k + 1; j < tiles; ++j) {
    target_syrk(matrix_tile(a, j, k), matrix_tile(a, j, j));
    for (int i = j + 1; i < tiles; ++i) {
      target_gemm(matrix_tile(a, i, k), matrix_tile(a, j, k), matrix_tile(a, i, j));
    }
  }
}

void target_factorise(Matrix* a) {
#pragma omp parallel default(none) shared(a)
#pragma omp single
  {
    visit_tiles(a, target_enter);
    for (int k = 0; k < a->layout.tiles; ++k) {
      create_step(a, k);
    }
    visit_tiles(a, target_leave);
  }
}

void target_check(const Job* job, Failure* failure) {
  if (job->ranks > 1) {
    failure_note(failure, kExitInput,
                 "--target: one rank drives the device, not %d; --devices=nodes:%d gives it workers", job->ranks,
                 job->ranks - 1);
    return;
  }
  if (omp_get_num_devices() == 0) {
    failure_note(failure, kExitInput, "--target: there is no device; ask `marline devices` why");
    return;
  }
  device_check(omp_get_default_device(), failure);
}
