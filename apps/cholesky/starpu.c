/* SPDX-License-Identifier: Apache-2.0
 *
 * The same factorisation by StarPU, in place of factorise.c, for comparison: one rank, and each tile is a registered
 * variable. Each kernel is a task that names its tiles' handles, and StarPU finds the graph from the order of
 * submission (sequential consistency), as OpenMP does from depend clauses. The main thread submits and is none of the
 * CPU workers, of which there are OMP_NUM_THREADS. StarPU starts before main, so its start is not in the measured time.
 * The registration of the tiles is, as is the creation of OpenMP's threads in the other programs.
 */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "factorise.h"
#include "kernels.h"
#include "starpu/start.h"

static void stop(const char* what, int error) {
  fprintf(stderr, "cholesky: StarPU: %s (error %d)\n", what, error);
  exit(2);
}

__attribute__((constructor)) static void start_starpu(void) {
  const char* threads = getenv("OMP_NUM_THREADS");
  int workers = threads ? atoi(threads) : 0;
  int error = starpu_start(workers > 0 ? workers : (int)sysconf(_SC_NPROCESSORS_ONLN));
  if (error)
    stop(error == kNoFolder ? "no folder for its measurements can be made: set TMPDIR" : "it does not start", error);
}

__attribute__((destructor)) static void stop_starpu(void) { starpu_shutdown(); }

static void run_potrf(void* buffers[], void* argument) {
  Tile a;
  int first_row;
  (void)buffers; /* of one memory node: they are the tiles */
  starpu_codelet_unpack_args(argument, &a, &first_row);
  kernel_potrf(a, first_row);
}

static void run_trsm(void* buffers[], void* argument) {
  Tile diagonal, a;
  (void)buffers;
  starpu_codelet_unpack_args(argument, &diagonal, &a);
  kernel_trsm(diagonal, a);
}

static void run_syrk(void* buffers[], void* argument) {
  Tile a, c;
  (void)buffers;
  starpu_codelet_unpack_args(argument, &a, &c);
  kernel_syrk(a, c);
}

static void run_gemm(void* buffers[], void* argument) {
  Tile a, b, c;
  (void)buffers;
  starpu_codelet_unpack_args(argument, &a, &b, &c);
  kernel_gemm(a, b, c);
}

static struct starpu_codelet potrf = {.cpu_funcs = {run_potrf}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "potrf"};
static struct starpu_codelet trsm = {
    .cpu_funcs = {run_trsm}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "trsm"};
static struct starpu_codelet syrk = {
    .cpu_funcs = {run_syrk}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .name = "syrk"};
static struct starpu_codelet gemm = {
    .cpu_funcs = {run_gemm}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}, .name = "gemm"};

static const Matrix* the_matrix;
static starpu_data_handle_t* handles; /* tiles x tiles; set for the tiles on and below the diagonal */

static starpu_data_handle_t* handle_of(int m, int k) { return &handles[(size_t)m * the_matrix->layout.tiles + k]; }

static Tile tile(int m, int k) { return matrix_tile(the_matrix, m, k); }

static void register_tiles(void) {
  int tiles = the_matrix->layout.tiles;
  handles = calloc((size_t)tiles * tiles, sizeof *handles);
  if (!handles) stop("no memory for its handles", 0);
  for (int m = 0; m < tiles; ++m) {
    for (int k = 0; k <= m; ++k) {
      starpu_variable_data_register(handle_of(m, k), STARPU_MAIN_RAM, (uintptr_t)tile(m, k).data,
                                    tile_stride(&the_matrix->layout) * sizeof(double));
    }
  }
}

static void unregister_tiles(void) {
  int tiles = the_matrix->layout.tiles;
  for (int m = 0; m < tiles; ++m) {
    for (int k = 0; k <= m; ++k) starpu_data_unregister(*handle_of(m, k));
  }
  free(handles);
}

static void check(int error) {
  if (error) stop("it refuses a task", error);
}

static void submit_step(int k) {
  int tiles = the_matrix->layout.tiles, first_row = k * the_matrix->layout.tile;
  Tile diagonal = tile(k, k);
  check(starpu_task_insert(&potrf, STARPU_VALUE, &diagonal, sizeof diagonal, STARPU_VALUE, &first_row, sizeof first_row,
                           STARPU_RW, *handle_of(k, k), 0));
  for (int m = k + 1; m < tiles; ++m) {
    Tile a = tile(m, k);
    check(starpu_task_insert(&trsm, STARPU_VALUE, &diagonal, sizeof diagonal, STARPU_VALUE, &a, sizeof a, STARPU_R,
                             *handle_of(k, k), STARPU_RW, *handle_of(m, k), 0));
  }
  for (int j = k + 1; j < tiles; ++j) {
    Tile b = tile(j, k), d = tile(j, j);
    check(starpu_task_insert(&syrk, STARPU_VALUE, &b, sizeof b, STARPU_VALUE, &d, sizeof d, STARPU_R, *handle_of(j, k),
                             STARPU_RW, *handle_of(j, j), 0));
    for (int i = j + 1; i < tiles; ++i) {
      Tile a = tile(i, k), c = tile(i, j);
      check(starpu_task_insert(&gemm, STARPU_VALUE, &a, sizeof a, STARPU_VALUE, &b, sizeof b, STARPU_VALUE, &c,
                               sizeof c, STARPU_R, *handle_of(i, k), STARPU_R, *handle_of(j, k), STARPU_RW,
                               *handle_of(i, j), 0));
    }
  }
}

void factorise(Matrix* a, const Panel* panel) {
  (void)panel;
  if (a->layout.grid_rows * a->layout.grid_cols != 1) stop("it is compared on one rank", 0);
  the_matrix = a;
  register_tiles();
  for (int k = 0; k < a->layout.tiles; ++k) submit_step(k);
  starpu_task_wait_for_all();
  unregister_tiles();
}
