/* SPDX-License-Identifier: Apache-2.0
 *
 * See matrix_market.h. The tiles are first filled with NaN, which no file may contain: whatever still is NaN at the end
 * was absent, and an entry that no longer is NaN when it is met was there twice.
 */
#include "matrix_market.h"

#include <math.h>

typedef struct {
  Matrix* lower;
  Matrix* mirror; /* of a general file: what stands above the diagonal, with its indices exchanged */
} Target;

static void store(const MarketFile* file, int i, int j, double value, void* arg, Failure* failure) {
  Target* target = arg;
  double* place = i >= j ? matrix_entry(target->lower, i, j) : matrix_entry(target->mirror, j, i);
  if (!place) {
    return; /* another process' */
  }
  if (!isnan(*place)) {
    failure_note(failure, kExitInput, "%s:%lld: entry (%d, %d) is there twice", file->path, file->line, i + 1, j + 1);
    return;
  }
  *place = value;
}

/* Replaces every NaN, an entry that was absent, by 0; or everything by NaN. */
static void fill(Matrix* matrix, bool with_nan) {
  size_t stride = tile_stride(&matrix->layout);
  for (size_t x = 0; x < matrix->count * stride; ++x) {
    if (with_nan || isnan(matrix->slab[x])) {
      matrix->slab[x] = with_nan ? NAN : 0;
    }
  }
}

static void check_symmetry(const MarketFile* file, const Matrix* lower, const Matrix* mirror, Failure* failure) {
  int n = lower->layout.n;
  for (int j = 0; j < n && failure->code == 0; ++j) {
    for (int i = j + 1; i < n; ++i) {
      const double* below = matrix_entry(lower, i, j);
      if (!below) {
        continue;
      }
      double above = *matrix_entry(mirror, i, j);
      if (!market_same(*below, above)) {
        failure_note(failure, kExitInput, "%s: not symmetric: entry (%d, %d) is %.17g, entry (%d, %d) is %.17g",
                     file->path, i + 1, j + 1, *below, j + 1, i + 1, above);
        return;
      }
    }
  }
}

static void read_general(MarketFile* file, Matrix* matrix, Failure* failure) {
  Matrix mirror;
  if (!matrix_create(&mirror, &matrix->layout)) {
    failure_note(failure, kExitInput, "not enough memory to read the upper triangle of '%s'", file->path);
    return;
  }
  fill(&mirror, true);
  market_read(file, store, &(Target){matrix, &mirror}, failure);
  if (failure->code == 0) {
    fill(matrix, false);
    fill(&mirror, false);
    check_symmetry(file, matrix, &mirror, failure);
  }
  matrix_destroy(&mirror);
}

void matrix_read(MarketFile* file, Matrix* matrix, Failure* failure) {
  fill(matrix, true);
  if (file->general) {
    read_general(file, matrix, failure);
  } else {
    market_read(file, store, &(Target){matrix, NULL}, failure);
    fill(matrix, false);
  }
}
